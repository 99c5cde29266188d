package cli

import (
	"context"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// ending are the signals that end a server.
var ending = []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP}

// heeded are those that were not ignored at the start, and stay so otherwise.
func heeded() (signals []os.Signal) {
	for _, sig := range ending {
		if !signal.Ignored(sig) {
			signals = append(signals, sig)
		}
	}
	return signals
}

// dieBySignal runs f with a context that ends at the first SIGTERM, SIGINT or
// SIGHUP. Once f has cleaned up and returned, the process dies by that signal,
// so that whoever started it can tell. Signals ignored at the start stay so;
// later ones do not cut f short.
func dieBySignal(f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 8)
	if heeded := heeded(); len(heeded) > 0 {
		signal.Notify(signals, heeded...)
	}
	// A client that is gone shows as an error of the write.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, unix.SIGPIPE)
	first := make(chan unix.Signal, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case sig := <-signals:
			first <- sig.(unix.Signal)
			cancel()
		case <-ctx.Done():
		}
	}()
	err := f(ctx)
	cancel()
	<-done
	select {
	case sig := <-first:
		die(sig)
	default:
	}
	return err
}

// untilSignal returns a context that ends at the first SIGTERM, SIGINT or SIGHUP,
// and another that ends at the second. Signals ignored at the start stay so.
func untilSignal() (first, second context.Context, stop func()) {
	first, end := context.WithCancel(context.Background())
	second, hurry := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	if heeded := heeded(); len(heeded) > 0 {
		signal.Notify(signals, heeded...)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for _, each := range []func(){end, hurry} {
			select {
			case <-signals:
				each()
			case <-quit:
				return
			}
		}
	}()
	return first, second, func() {
		signal.Stop(signals)
		close(quit)
		<-done
		end()
		hurry()
	}
}

// die ends this process by sig.
func die(sig unix.Signal) {
	signal.Reset(sig)
	_ = unix.Kill(os.Getpid(), sig)
	// The first process of a container cannot be killed by itself.
	time.Sleep(100 * time.Millisecond)
	os.Exit(128 + int(sig))
}
