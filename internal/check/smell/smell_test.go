package smell_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/check/smell"
)

// arguments are those of the tool t in all examples.
var arguments = map[string]string{
	"text":   `{"type":"string"}`,
	"count":  `{"type":"integer"}`,
	"yes":    `{"type":"boolean"}`,
	"choice": `{"enum":["start","stop"]}`,
	"word":   `{"type":"string","pattern":"^[a-z]+$"}`,
	"dashed": `{"type":"string","pattern":"^[a-z-]+$"}`,
	"name":   `{"type":"string","pattern":"^(?![-/])[^\\u0000-\\u001f]*$"}`,
	"list":   `{"type":"array","items":{"type":"string"}}`,
	"ids":    `{"type":"array","items":{"type":"integer"}}`,
	"size":   `{"type":"object"}`,
	"open":   `{}`,
}

func tool(function string) smell.Tool {
	t := smell.Tool{Function: function, Prefix: "arg_", Arguments: map[string]smell.Shape{}, Document: 1}
	for name, schema := range arguments {
		t.Arguments[name] = smell.ShapeOf(json.RawMessage(schema), json.RawMessage(schema))
	}
	return t
}

func parse(t *testing.T, name, text string) smell.File {
	t.Helper()
	tree, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), name)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return smell.File{Name: name, Text: []byte(text), Tree: tree}
}

// find names what is found in a script as "line rule".
func find(t *testing.T, script string, tools ...smell.Tool) (found []string, all []smell.Finding) {
	t.Helper()
	all = smell.Find([]smell.File{parse(t, "server.sh", script)}, tools)
	for _, f := range all {
		found = append(found, fmt.Sprintf("%d %s", f.Pos.Line(), f.Rule))
		if f.Message == "" || f.Safer == "" || !f.End.After(f.Pos) {
			t.Errorf("a finding lacks something: %+v", f)
		}
	}
	return found, all
}

// examples has for each rule code that smells and code that does not. The code
// is the body of a tool; what stands in front of a line "---" is outside of it.
var examples = map[string]struct{ smells, fine []string }{
	smell.Eval: {
		smells: []string{
			`eval "$arg_text"`,
			`eval "ls $arg_text"`,
			`local command="ls $arg_text"; eval "$command"`,
			`local args=("$arg_text"); eval "${args[@]}"`,
			`trap "rm -f $arg_text" EXIT`,
			`echo "${arg_text@P}"`,
			"run() { eval \"$1\"; }\n---\nrun \"ls $arg_text\"",
			"run() { eval \"$@\"; }\n---\nrun ls \"$arg_text\"",
			"outer() { inner \"$@\"; }\ninner() { eval \"$2\"; }\n---\nouter x \"$arg_text\"",
			`for one in "${arg_list[@]}"; do eval "$one"; done`,
			`read -r first rest <<<"$arg_text"; eval "$rest"`,
			`printf -v line '%s' "$arg_text"; eval "$line"`,
			`eval "$(jq -r .text <<<"$1")"`,
			`value=$(echo "$1" | jq -r '.text // empty'); eval "$value"`,
			`IFS=$'\t' read -r a b < <(jq -r '[.text, .word] | @tsv' <<<"$1"); eval "$b"`,
			`printf '%s\n' "${arg_list[@]}" | while read -r line; do eval "$line"; done`,
			`value=$(printf '%s' "$1" | "$CONCH_BIN" jq -r .text); eval "$value"`,
			`value=$(mcp_args_get .text); eval "$value"`,
			`value=$(mcp_args_require text); eval "$value"`,
			`value=$("$CONCH_BIN" tool args-get .text); eval "$value"`,
			`sudo -u nobody env A=b command eval "$arg_text"`,
			`eval "x=$arg_dashed$arg_text"`,
			`while read -r line; do eval "$line"; done <<<"$arg_text"`,
			`x=$arg_word; [[ -z $y ]] || x=$arg_text; eval "$x"`,
			"show() { eval \"$value\"; }\n---\nlocal value=$arg_text; show",
			"trimmed() { echo \"${1# }\"; }\n---\neval \"$(trimmed \"$arg_text\")\"",
		},
		fine: []string{
			`eval "$(ssh-agent -s)"`,
			`eval "x=$arg_count"`,
			`eval "$arg_choice"`,
			`eval "case_$arg_word"`,
			`eval "ls ${arg_text@Q}"`,
			`eval "ls $(printf '%q' "$arg_text")"`,
			`printf -v quoted '%q' "$arg_text"; eval "ls $quoted"`,
			`trap 'rm -f "$arg_text"' EXIT`,
			`trap - EXIT`,
			`local x=$arg_text; x=fixed; eval "$x"`,
			`echo "eval $arg_text"`,
			`case $arg_text in a | b) eval "run_$arg_text" ;; esac`,
			`value=$(jq -r .word <<<"$1"); eval "f_$value"`,
			`value=$(mcp_args_int count); eval "x=$value"`,
			`(x=$arg_text); eval "$x"`,
			"value=ls\nrun() { eval \"$value\"; }\nother() { local value=$arg_text; : \"$value\"; }\n---\nother; run",
			`digits=${arg_text//[!0-9]/}; eval "x=$digits"`,
			`digits=$(tr -cd '0-9' <<<"$arg_text"); eval "x=$digits"`,
		},
	},
	smell.ShellCode: {
		smells: []string{
			`parallel "$arg_text" ::: a`,
			`parallel gzip -c "$arg_text" ::: a`,
			`watch "$arg_text"`,
			`watch "ls $arg_text"`,
			`bash -c "ls $arg_text"`,
			`sh -ec "ls '$arg_text'"`,
			`timeout 5 bash -c "$arg_text"`,
			`find . -exec sh -c "echo $arg_text" \;`,
			`docker exec box sh -c "ls $arg_text"`,
			`su -c "ls $arg_text" nobody`,
			`echo "ls $arg_text" | sh`,
			`bash -s <<<"ls $arg_text"`,
			"bash <<END\nls $arg_text\nEND",
			`mcp_run_with_progress --pattern x -- bash -c "ls $arg_text"`,
			`mcp_with_retry 3 1 -- sh -c "ls $arg_text"`,
		},
		fine: []string{
			`parallel gzip ::: "$arg_text"`,
			`watch -x ls -- "$arg_text"`,
			`bash -c 'ls -- "$1"' bash "$arg_text"`,
			`bash -c "ls $arg_count"`,
			`bash script.sh "$arg_text"`,
			`bash -c "ls ${arg_text@Q}"`,
			"bash -s -- \"$arg_text\" <<'END'\nls -- \"$1\"\nEND",
			`echo "$arg_text" | tee file >/dev/null`,
		},
	},
	smell.RemoteCode: {
		smells: []string{
			`ssh -- host "ls $arg_text"`,
			`ssh -p 22 host ls -- "$arg_text"`,
			"ssh host <<END\nls $arg_text\nEND",
		},
		fine: []string{
			`ssh -- host "ls -- $(printf %q "$arg_text")"`,
			`ssh -- host "ls -- ${arg_text@Q}"`,
			`ssh -- host "tail -n $arg_count log"`,
			`ssh -- host 'cat >file' <<<"$arg_text"`,
		},
	},
	smell.SourcedFile: {
		smells: []string{
			`python3 "$arg_text"`,
			`python3 -W error "$arg_text"`,
			`python3 -m "$arg_text"`,
			`node "$arg_text"`,
			`node --require x "$arg_text"`,
			`ruby "$arg_text"`,
			`perl "$arg_text"`,
			`php "$arg_text"`,
			`lua "$arg_text"`,
			`deno run "$arg_text"`,
			`npx "$arg_text"`,
			`bash "plugins/$arg_text.sh"`,
			`python3 "scripts/$arg_text.py"`,
			`awk -f "$arg_text" file`,
			`make -f "$arg_text"`,
			`psql -f "$arg_text"`,
			`source "$arg_text"`, `. "plugins/$arg_text.sh"`, `bash "$arg_text"`, `source "$arg_text" x`},
		fine: []string{
			`python3 "scripts/$arg_choice.py"`,
			`python3 -m json.tool "$arg_text"`,
			`perl -lne print "$arg_name"`,
			`perl -F: -lane print -- "$arg_text"`,
			`node tool.js "$arg_text"`,
			`deno fmt "$arg_name"`,
			`npx prettier "$arg_text"`,
			`awk -f tool.awk -- "$arg_text"`,
			`ruby -Ilib tool.rb "$arg_text"`,
			`source "plugins/$arg_choice.sh"`, `. ./lib.sh "$arg_text"`, `bash run.sh "$arg_text"`, `source "plugins/$arg_word.sh"`},
	},
	smell.CommandName: {
		smells: []string{
			`find . -exec "$arg_text" {} +`,
			`find . -type f -execdir "$arg_text" {} \;`,
			`fd -x "$arg_text"`,
			`"./plugins/$arg_text"`,
			`./"$arg_text"`,
			`"$dir/$arg_text" --version`,
			`xargs "$arg_text"`,
			`xargs -n 1 "$arg_text" <file`,
			`env "$arg_text"`,
			`env A=b "$arg_text"`,
			`sudo "$arg_text"`,
			`sudo --user nobody "$arg_text"`,
			`nohup "$arg_text"`,
			`time "$arg_text"`,
			`nice -n 5 "$arg_text"`,
			`strace -f "$arg_text"`,
			`"$arg_text" --version`, `exec "$arg_text"`, `timeout 5 "$arg_name"`, `"${arg_list[@]}"`, `run=("$arg_text" x); "${run[@]}"`},
		fine: []string{
			`"./plugins/$arg_choice"`,
			`"$dir/$arg_word"`,
			`find . -exec ls {} +`,
			`find . -name "$arg_text" -exec ls -- {} +`,
			`env "A=$arg_text" ls`,
			`sudo A="$arg_text" ls`,
			`"$arg_choice" now`, `"tool_$arg_text"`, `run=(ls "$arg_text"); "${run[0]}"`, `"$EDITOR" -- "$arg_text"`, `command -v "$arg_text"`},
	},
	smell.ProgramText: {
		smells: []string{
			`awk "/$arg_text/ { print }" file`,
			`gawk -F: "\$1 == \"$arg_text\"" file`,
			`sed "s/x/$arg_text/" file`,
			`sed -n -e "/$arg_text/p" file`,
			`jq ".items[] | select(.name == \"$arg_text\")" file`,
			`jq -r --arg a b "$arg_text" file`,
			`perl -ne "print if /$arg_text/" file`,
			`python3 -c "print('$arg_text')"`,
			`python -c "$arg_text"`,
			`node -e "console.log('$arg_text')"`,
			`ruby -e "puts '$arg_text'"`,
			`php -r "echo '$arg_text';"`,
			`sqlite3 db "select * from t where a = '$arg_text'"`,
			`sqlite3 db <<<"select * from t where a = '$arg_text'"`,
			`psql -c "select '$arg_text'"`,
			`psql --command="select '$arg_text'"`,
			`mysql -e "select '$arg_text'"`,
			"python3 <<END\nprint('$arg_text')\nEND",
			"python3 - <<END\nprint('$arg_text')\nEND",
			`echo "print('$arg_text')" | python3`,
			`"$CONCH_BIN" jq ".$arg_text" file`,
		},
		fine: []string{
			`text=$arg_text awk 'index($0, ENVIRON["text"])' file`,
			`awk -v "n=$arg_text" '{ print n }' file`,
			`awk "NR == $arg_count" file`,
			`sed -n "${arg_count}p" file`,
			`sed -e s/a/b/ -- "$arg_text"`,
			`jq --arg text "$arg_text" '.name == $text' file`,
			`jq -n --argjson n "$arg_count" '$n'`,
			`perl -e 'print $ARGV[0]' -- "$arg_text"`,
			`python3 -c 'import sys; print(sys.argv[1])' "$arg_text"`,
			`python3 tool.py "$arg_text"`,
			`echo "$arg_text" | python3 tool.py`,
			`echo "$arg_text" | python3 -c 'import sys; print(sys.stdin.read())'`,
			`python3 - "$arg_text" <<<'import sys; print(sys.argv[1])'`,
			`node tool.js <<<"$arg_text"`,
			`node -e 'console.log(process.argv[1])' -- "$arg_text"`,
			`sqlite3 db "select * from t where a = '${arg_text//\'/\'\'}'"`,
			`sqlite3 db "select * from t where id = $arg_count"`,
			`psql -v "text=$arg_text" <<<"select :'text'"`,
			`jq . <<<"$arg_text"`,
		},
	},
	smell.Arithmetic: {
		smells: []string{
			`echo "$((arg_text + 1))"`,
			`echo "$(($arg_text + 1))"`,
			`((arg_text > 3))`,
			`[[ $arg_text -gt 3 ]]`,
			`[[ 3 -eq "$arg_text" ]]`,
			`let "x = arg_text"`,
			`for ((i = 0; i < arg_text; i++)); do :; done`,
			`echo "${lines[arg_text]}"`,
			`echo "${lines[$arg_text]}"`,
			`lines[$arg_text]=x`,
			`echo "${x:$arg_text:1}"`,
			`declare -i n=$arg_text`,
			`local -i n; n=$arg_text`,
			`local n=$arg_text; ((n++))`,
			"count() { echo $(($1 + 1)); }\n---\ncount \"$arg_text\"",
			`((arg_name > 1))`,
			`((arg_open > 1))`,
			`n=$(jq -r .text <<<"$1"); ((n > 1))`,
		},
		fine: []string{
			`((arg_count > 3))`,
			`[[ $arg_count -gt 3 ]]`,
			`((arg_yes))`,
			`((${#arg_text} > 3))`,
			`((${#arg_list[@]} > 3))`,
			`[[ $arg_text =~ ^[0-9]+$ ]] || return; ((arg_text > 3))`,
			`[[ $arg_text == *[!0-9]* ]] && return; ((arg_text > 3))`,
			`case $arg_text in '' | *[!0-9]*) return ;; esac; ((arg_text > 3))`,
			`grep -qE '^[0-9]+$' <<<"$arg_text" || return; ((arg_text > 3))`,
			`echo "$arg_text" | grep -Eq '^[0-9]+$' || return; ((arg_text > 3))`,
			"digits() { [[ $1 != *[!0-9]* ]]; }\n---\ndigits \"$arg_text\" || return; ((arg_text > 3))",
			"digits() { local text=$1; [[ $text =~ ^[0-9]+$ ]]; }\n---\nif ! digits \"$arg_text\"; then return; fi; ((arg_text > 3))",
			`[ "$arg_text" -gt 3 ]`,
			`declare -A seen; seen[$arg_text]=1; echo "${seen[$arg_text]}"`,
			`n=$(printf '%d' "$arg_text"); ((n > 3))`,
			`n=$(wc -l <<<"$arg_text"); ((n > 3))`,
			`n=$(mcp_args_int count); ((n > 3))`,
			`n=$(jq -r .count <<<"$1"); ((n > 3))`,
			`n=$(jq -r '.list | length' <<<"$1"); ((n > 3))`,
			`n=$(jq -r '.text | tonumber' <<<"$1"); ((n > 3))`,
			`n=$(jq -r '.count // 10' <<<"$1"); ((n > 3))`,
			`((${#arg_list[@]})); for ((i = 0; i < ${#arg_list[@]}; i++)); do echo "${arg_list[$i]}"; done`,
			`(($(echo "$arg_text > 3" | bc)))`,
			`[[ $arg_text == 3 ]]`,
			`((arg_word > 3))`,
			`local n=$((arg_count * 2)); ((n > 1))`,
			`for id in "${arg_ids[@]}"; do ((id > 1)); done`,
		},
	},
	smell.VariableName: {
		smells: []string{
			`printf -v "$arg_text" %s x`,
			`read -r "$arg_text" <file`,
			`declare "$arg_text=x"`,
			`export "$arg_text"`,
			`unset "$arg_text"`,
			`[[ -v $arg_text ]]`,
			`test -v "$arg_text"`,
			`[ -n x -a -v "$arg_text" ]`,
			`echo "${!arg_text}"`,
			`unset "values[$arg_text]"`,
		},
		fine: []string{
			`printf -v line %s "$arg_text"`,
			`read -r line <<<"$arg_text"`,
			`export "VALUE=$arg_text"`,
			`local value=$arg_text`,
			`declare "x_$arg_word=1"`,
			`declare -f "tool_$arg_text" >/dev/null`,
			`local -n result=$1`,
			`echo "${!arg_choice}"`,
			`echo "${!arg_list[@]}"`,
			`echo "${!arg_@}"`,
		},
	},
	smell.Unquoted: {
		smells: []string{
			`echo $arg_text`,
			`cat -- $arg_name`,
			`for x in $arg_text; do :; done`,
			`args=(-a $arg_text)`,
			`echo ${arg_list[@]}`,
			`[ $arg_text = x ]`,
			`local a=$arg_text; echo $a`,
			`echo $1`,
			`echo x$arg_text`,
			`echo $(basename -- "$arg_text")`,
			`echo "$arg_text" | xargs echo`,
		},
		fine: []string{
			`echo "$arg_text"`,
			`echo $arg_count $arg_yes $arg_choice $arg_word`,
			`local a=$arg_text`,
			`a=$arg_text b=x$arg_text`,
			`case $arg_text in *) ;; esac`,
			`[[ $arg_text = x ]]`,
			`cat <<<$arg_text`,
			`echo ${#arg_text}`,
			`echo ${arg_ids[@]}`,
			`echo ${arg_text:+yes}`,
			`echo ${arg_text:+"$arg_text"}`,
			`printf '%s\0' "$arg_text" | xargs -0 echo`,
			`echo "a $arg_text b"`,
			"cat <<END\n$arg_text\nEND",
		},
	},
	smell.Option: {
		smells: []string{
			`curl -s "$arg_text"`,
			`curl -fsSL "$arg_text"`,
			`curl -sS "$arg_text"`,
			`curl -L "$arg_text"`,
			`curl --silent "$arg_text"`,
			`curl --fail -o out "$arg_text"`,
			`curl -so out "$arg_text"`,
			`wget -q "$arg_text"`,
			`wget -qO- "$arg_text"`,
			`wget -qO out "$arg_text"`,
			`rsync -av "$arg_text" dst`,
			`rsync -e ssh -az src "$arg_text"`,
			`git clone --depth 1 "$arg_text"`,
			`git clone --bare "$arg_text"`,
			`git grep -n "$arg_text"`,
			`git log -n 5 "$arg_text"`,
			`git fetch --no-tags "$arg_text"`,
			`docker rm -f "$arg_text"`,
			`docker logs --follow "$arg_text"`,
			`docker logs -f "$arg_text"`,
			`docker run -it "$arg_text"`,
			`docker stop "$arg_text"`,
			`kubectl logs -f "$arg_text"`,
			`kubectl get pods -n web "$arg_text"`,
			`kubectl delete --all-namespaces pod "$arg_text"`,
			`tar -xf a.tar "$arg_text"`,
			`tar xzf a.tgz "$arg_text"`,
			`tar -xf a.tar ${arg_name:+--wildcards "$arg_text"}`,
			`rg -n "$arg_text"`,
			`rg --hidden -g x "$arg_text"`,
			`jq -r .name "$arg_text"`,
			`grep --include "*.sh" -r "$arg_text" .`,
			`ffmpeg -i in.wav -y "$arg_text"`,
			`ffprobe -v quiet -show_format "$arg_text"`,
			`systemctl restart --now "$arg_text"`,
			`journalctl -f "$arg_text"`,
			`find . -exec grep "$arg_text" {} +`,
			`sudo --user nobody rm "$arg_text"`,
			`scp -q "$arg_text" host:`,
			`less -R "$arg_text"`,
			`psql -At "$arg_text"`,
			`make -s "$arg_text"`,
			`rm "$arg_text"`,
			`rm -rf "$arg_text"`,
			`cat "$arg_dashed"`,
			`cp "$arg_text" /tmp`,
			`grep "$arg_text" file`,
			`grep -F "$arg_text" file`,
			`grep -e x "$arg_text"`,
			`head -n 3 "$arg_text"`,
			`head -n "$arg_count" "$arg_text"`,
			`git log "$arg_text"`,
			`git -C . show "$arg_text"`,
			`git checkout -q "$arg_text"`,
			`curl -s "https://example" "$arg_text"`,
			`curl "$arg_text"`,
			`find "$arg_text" -name x`,
			`kubectl get pod "$arg_text"`,
			`ssh "$arg_text" uptime`,
			`tar "$arg_text"`,
			`rm "${arg_list[@]}"`,
			`sudo rm "$arg_text"`,
			`args=(-v); args+=("$arg_text"); rm "${args[@]}"`,
			`for file in "${arg_list[@]}"; do rm "$file"; done`,
			`mkdir -p "$arg_text"`,
			`ffmpeg -i in.wav "x.mp3" "$arg_text"`,
			`local f=$arg_text; rm "$f"`,
			"remove() { rm \"$1\"; }\n---\nremove \"$arg_text\"",
		},
		fine: []string{
			`curl -so "$arg_text" https://example`,
			`curl -sSo "$arg_text" https://example`,
			`curl -fsSL -H "$arg_text" https://example`,
			`curl --max-time "$arg_text" https://example`,
			`curl -X "$arg_text" https://example`,
			`wget -qO "$arg_text" https://example`,
			`wget -q -- "$arg_text"`,
			`rsync -e "$arg_text" src dst`,
			`rsync --exclude "$arg_text" src dst`,
			`git clone --branch "$arg_text" https://example`,
			`git grep -e "$arg_text"`,
			`git log -n "$arg_text"`,
			`git -C "$arg_text" status`,
			`git log --since "$arg_text" --until "$arg_text"`,
			`git log ${arg_text:+--author="$arg_text"}`,
			`git log ${arg_text:+--author "$arg_text"}`,
			`find . ${arg_text:+-name "$arg_text"}`,
			`ls ${arg_text:+"--sort=$arg_text"}`,
			`ls "${arg_text:+--sort=$arg_text}"`,
			`author=--author=$arg_text; git log "$author"`,
			`options=(${arg_text:+--author "$arg_text"}); git log "${options[@]}"`,
			`tar tzf "$arg_text"`,
			`tar xzf "$arg_text"`,
			`tar cf "$arg_text" src`,
			`tar xfC a.tar "$arg_text"`,
			`tar -xzf "$arg_text"`,
			`tar -C "$arg_text" -xf a.tar`,
			`tar -xf a.tar ${arg_text:+-C "$arg_text"}`,
			`docker run --rm alpine echo "$arg_text"`,
			`docker run --name "$arg_text" alpine`,
			`docker exec -it box ls "$arg_text"`,
			`docker logs --tail "$arg_text" box`,
			`docker build -t "$arg_text" .`,
			`docker ps -f "$arg_text"`,
			`kubectl -n "$arg_text" logs -f pod`,
			`kubectl get pods -o "$arg_text"`,
			`kubectl get pods --namespace "$arg_text"`,
			`rg -e "$arg_text" -- src`,
			`rg -g "$arg_text" x`,
			`jq --arg x "$arg_text" .x file`,
			`jq --rawfile x "$arg_text" .x`,
			`ffmpeg -y -i "$arg_text" -vn out.mp3`,
			`ffprobe -show_format -i "$arg_text"`,
			`journalctl -u "$arg_text"`,
			`systemctl --type "$arg_text"`,
			`ssh -i "$arg_text" host uptime`,
			`scp -P "$arg_text" a host:`,
			`sudo -u "$arg_text" ls`,
			`rm -- "$arg_text"`,
			`rm "./$arg_text"`,
			`rm "$dir/$arg_dashed"`,
			`rm "$arg_word" "$arg_choice" "$arg_name"`,
			`head -n "$arg_count" file`,
			`grep -e "$arg_text" file`,
			`grep -ie "$arg_text" -- file`,
			`grep -m "$arg_text" x file`,
			`git log --end-of-options "$arg_text"`,
			`git log --author="$arg_text" -- "$arg_text"`,
			`git commit -m "$arg_text"`,
			`git log --author "$arg_text"`,
			`curl -s --url "$arg_text"`,
			`curl -d "$arg_text" https://example`,
			`find . -name "$arg_text"`,
			`find "./$arg_text" -name x`,
			`kubectl get pod -- "$arg_text"`,
			`kubectl -n "$arg_text" get pods`,
			`ffmpeg -i "$arg_text" out.mp3`,
			`unknown_program "$arg_text"`,
			`[[ $arg_text != -* ]] || return; rm "$arg_text"`,
			`case $arg_text in -*) return ;; esac; rm "$arg_text"`,
			"no_options() { local v; for v; do [[ $v != -* ]] || return; done; }\n---\nno_options \"$arg_text\" || return; rm \"$arg_text\"",
			`file=$(realpath -- "$arg_text"); rm "$file"`,
			`path=$(mcp_require_path text) || exit; rm "$path"`,
			`rm "${arg_text:+./$arg_text}"`,
			`args=(-n 5); [[ -z $arg_text ]] || args+=(--author "$arg_text"); git log "${args[@]}"`,
			`options=(--data-urlencode "q=$arg_text"); curl -G "${options[@]}" https://example`,
			`url="https://example/$arg_text"; curl "$url"`,
			`url=$base/$arg_text; curl "$url"`,
			`date -d "$arg_text" +%s`,
			`curl -G --data-urlencode "q=$arg_text" "$base"`,
			`cat <<<"$arg_text" | head -n 3`,
			`command -v -- "$arg_text"`,
			"rm() { command rm -- \"$@\"; }\n---\nrm \"$arg_text\"",
		},
	},
	smell.Format: {
		smells: []string{`printf "$arg_text"`, `printf -- "hello $arg_text\n"`, `printf "$arg_name\n" x`},
		fine:   []string{`printf '%s\n' "$arg_text"`, `printf "$arg_count"`, `printf "${arg_word}\n"`},
	},
	smell.Path: {
		smells: []string{
			`cat <"$arg_text"`, `echo x >"$arg_text"`, `echo x >>"$arg_text"`, `echo x >"notes/$arg_text.md"`, `cat -- "notes/$arg_text"`, `rm -f "$dir/$arg_text"`, `file=notes/$arg_text; cat "$file"`,
			`cd "notes/$arg_text"`, `ls -l notes/"$arg_text"`, "show() { cat -- \"$1\"; }\n---\nshow \"notes/$arg_text\"", `grep -F x "notes/$arg_text.md"`, `find "notes/$arg_text" -type f`, `find . -exec cp {} "notes/$arg_text" \;`,
		},
		fine: []string{
			`cat -- "notes/$arg_choice"`, `cat -- "notes/$arg_word.md"`, `cat -- "notes/$arg_name"`, `curl "https://example/$arg_text"`, `[[ $arg_text != */* ]] || return; cat -- "notes/$arg_text"`, `case $arg_text in *..* | */*) return ;; esac; cat "notes/$arg_text"`,
			`cat -- "notes/${arg_text##*/}"`, `cat -- "notes/${arg_text//\//_}"`, `cat -- "notes/$(basename -- "$arg_text")"`, `file=$(realpath -- "notes/$arg_text"); cat "$file"`, `file=notes/$arg_text; [[ $(realpath "$file") == "$PWD"/* ]] || return; cat "$file"`,
			`grep -F "a/$arg_text" file`, `echo "notes/$arg_text"`, `sed -e "s/a/b/" -- "$arg_text"`, `sort -t/ -k"$arg_count" file`, `path=$(mcp_require_path text) || exit; cat "$path/$arg_word"`,
			`cat <"$arg_name"`, `cat <"$arg_word"`, `echo "$arg_text" >file`, `exec 3<&"$fd"`},
	},
}

func script(code string) (text string, from int) {
	outside, body, ok := strings.Cut(code, "\n---\n")
	if !ok {
		outside, body = ":", code
	}
	return outside + "\ntool_t() {\n" + body + "\n}\n", strings.Count(outside, "\n") + 3
}

func TestSmellsAreFound(t *testing.T) {
	for rule, example := range examples {
		for _, code := range example.smells {
			t.Run(rule+"/"+code, func(t *testing.T) {
				text, _ := script(code)
				found, _ := find(t, text, tool("tool_t"))
				if !slices.ContainsFunc(found, func(f string) bool { return strings.HasSuffix(f, " "+rule) }) {
					t.Errorf("found %q, and not %s, in\n%s", found, rule, text)
				}
			})
		}
	}
}

func TestWhatDoesNotSmellIsLeftAlone(t *testing.T) {
	for rule, example := range examples {
		for _, code := range example.fine {
			t.Run(rule+"/"+code, func(t *testing.T) {
				text, _ := script(code)
				found, all := find(t, text, tool("tool_t"))
				if len(found) > 0 {
					t.Errorf("found %q in\n%s\n%+v", found, text, all)
				}
			})
		}
	}
}

func TestAnArrayIsAdvisedWithAllItsElements(t *testing.T) {
	for script, want := range map[string]string{
		"tool_t() { ls -- $arg_list; }":             `quote it: "${arg_list[@]}"`,
		"tool_t() { ls -- $arg_text; }":             `quote it: "$arg_text"`,
		"tool_t() { local x=$arg_list; ls -- $x; }": `quote it: "$x"`,
		"tool_t() { ls -- ${arg_list[0]}; }":        `quote it: "${arg_list[0]}"`,
	} {
		_, all := find(t, script, tool("tool_t"))
		if len(all) != 1 || all[0].Safer != want {
			t.Errorf("%s: %+v, want %s", script, all, want)
		}
	}
}
