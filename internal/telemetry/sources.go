package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Sources is where the numbers come from that a server knows at any moment.
// The functions are called at each scrape, several at once; of one that is nil
// there is no metric.
type Sources struct {
	Version string   // of conch
	Methods []string // those that Request tells apart

	Queue       func() int // calls that wait for a worker
	Workers     func() (idle, busy int)
	Forks       func() uint64 // subshells forked since the start
	Sessions    func() int
	Connections func() (open, busy int) // the busy ones are open too
	Dropped     func() int64            // messages dropped since the start
}

// collectors are the metrics of the sources there are.
func (s Sources) collectors() []prometheus.Collector {
	var all []prometheus.Collector
	if s.Queue != nil {
		all = append(all, gauge("conch_calls_queued", "Calls that wait for a worker.", s.Queue))
	}
	if s.Workers != nil {
		all = append(all, pair{workers("idle"), workers("busy"), s.Workers})
	}
	if s.Forks != nil {
		all = append(all, total("conch_forks_total", "Subshells forked for calls.", s.Forks))
	}
	if s.Sessions != nil {
		all = append(all, gauge("conch_sessions", "Sessions of clients that are open.", s.Sessions))
	}
	if s.Connections != nil {
		all = append(all, pair{
			prometheus.NewDesc("conch_connections_open", "Connections of clients, idle ones included.", nil, nil),
			prometheus.NewDesc("conch_connections_busy", "Connections of clients on which a request is being answered.", nil, nil),
			s.Connections,
		})
	}
	if s.Dropped != nil {
		all = append(all, total("conch_messages_dropped_total", "Messages for clients that were dropped and never sent.", s.Dropped))
	}
	return all
}

func gauge(name, help string, read func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

func total[N int64 | uint64](name, help string, read func() N) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

func workers(state string) *prometheus.Desc {
	return prometheus.NewDesc("conch_workers", "Workers there are, by whether a call has them.", nil, prometheus.Labels{"state": state})
}

// pair is two gauges read at once, so that they belong to the same moment.
type pair struct {
	first, second *prometheus.Desc
	read          func() (int, int)
}

func (p pair) Describe(to chan<- *prometheus.Desc) {
	to <- p.first
	to <- p.second
}

func (p pair) Collect(to chan<- prometheus.Metric) {
	first, second := p.read()
	to <- prometheus.MustNewConstMetric(p.first, prometheus.GaugeValue, float64(first))
	to <- prometheus.MustNewConstMetric(p.second, prometheus.GaugeValue, float64(second))
}
