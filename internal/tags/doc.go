/*
Package tags reads servers that describe their tools in the comments above
their functions, in the tags that users of argc and of llm-functions write.

It knows tags and what follows from them: names, schemas, entries of a list of
tools. It knows nothing of how functions run, of who calls them, and of files: it
reads the text it is given, and names other files as they are written there.

# Tags

A tag is a comment that begins its line, and whose first word is @ and a name, which
begins with a letter. Nothing else is one: not an indented comment, nor a line of a
string or a here-document, nor the @@ of a diff in a description.

	# @describe TEXT     what the server or the command is for
	# @cmd TEXT          begins a command, whose function is the next one
	# @alias NAME,NAME   other names that the command can be called by
	# @arg …             a parameter that has a place
	# @option …          a parameter that has a name and a value
	# @flag …            a parameter that has a name
	# @env …             a variable of the environment
	# @meta NAME VALUE   anything else
	# @schema …          what the tags cannot say, as JSON
	# @version, @author  the @meta of that name

TEXT, and what ends the tags of parameters and variables, may go on in the comments
directly below. They are part of it as they are, but for the # and one blank; what is
said to shellcheck is not.

Tags above the first @cmd and the first function concern the server. All others
stand between a @cmd and its function. A function is defined at the beginning of
a line, as name(), name () or function name; its brace may stand in the next line.

# Commands

A command is a tool. Its name is that of its function, without underscores at the
end and tool_ at the beginning, and with underscores for everything that is neither
a letter nor a digit. A function tool_name also has the call's arguments as a list's
function has them, as JSON in $1 and in variables arg_name, unless it has an @arg;
errexit is off in it.
A function parent::child makes the tool parent_child; the function parent must
be a command too, before it. That one is a tool only if there is a function
parent::main, which it runs. Functions whose names begin with an underscore, or
parts of them, are no tools.

A script without @cmd is one command, if it has any tag: it has the file's name,
and its function is main, or the script itself if there is no main.

A command also has the options, flags and variables that stand above the first @cmd,
and those of the commands above it, unless it has its own of the same name. The same
holds for readonly, destructive, idempotent, open-world and timeout of @meta, while
requires and require-tools add up.

# Parameters

	@arg NAME[MODIFIER][VALUE] [VARIABLE] [<NOTATION>] [TEXT]
	@option [-SHORT] --NAME[MODIFIER][VALUE] [VARIABLE] [<NOTATION>…] [TEXT]
	@flag [-SHORT] --NAME[*] [VARIABLE] [TEXT]
	@env NAME[!][VALUE] [<NOTATION>] [TEXT]

A NAME is made of letters, digits and _-.:@, that of @env of letters, digits and
underscores. The other signs that a short name or a flag of one character may be
are !#$%*+,/=?[]^{}~. One dash may stand in place of two, or a plus; -NAME or
+NAME alone will do. Exactly one blank stands before VARIABLE and each NOTATION:
after two, they are TEXT.

The name of an argument in a call is NAME with underscores for all that is neither
a letter nor a digit, behind plus_ for one with a plus. The function finds it in
the variable of that name behind argc_, as in argc_dry_run.

The end of an option's name says how a command line has the value: in --name:
only behind an equals sign, in -D- as part of the name, as in -Dkey=value. The
sign twice is part of the name.

	MODIFIER
	!              required
	*              any number of times
	+              at least once
	*, +,          the same, with a separator, any of , : ; @ | /
	~              all that follows

	VALUE
	=text          a default: up to the next blank, or in quotes
	=`function`    a default that a function prints; no modifier may precede either
	[a|b]          choices, each as it is or in quotes
	[=a|b]         the first is the default
	[`function`]   choices that a function prints
	[?`function`]  the same, and others are good as well

	VARIABLE
	$$             NAME in capitals may give the value in the environment
	$OTHER         OTHER may give it

A parameter with a default is not required, whatever its modifier. A function that
gives a default or choices is defined in the same file.

A notation stands for a value, and says what it is. Several are that many values.
The last of an option may end in * for any number of them, + for at least one, or ?
for one at most.

# Schemas

	a flag                   boolean; with *, an integer from 0: how often it is set
	<INT>                    integer
	<NUM>                    number
	<URL>, <DATE>            string of the format uri or date
	<JSON>                   any value; Bash has its text
	any other notation       string, <FILE>, <DIR> and <PATH> too: a path, as it is
	                         given; nobody has checked it, or that it leads to a file
	* and +                  array of these; with +, of one at least
	~                        array; an option has at least as many as it has notations
	<A> <B>                  array of two; with * or +, an array of such arrays
	<A> <B+>                 array of two at least; <B*> of one at least, <B?> of one or two
	<A+>, <A*>               array, also with * or + behind the name
	-D-                      object: the values by their keys; without * or +, of one

Choices that are written are the only values; those that a function prints are not in
the schema. A default has the type of its notation, so --depth=2 <INT> gives 2, and
is an error where it cannot. Required is what has ! or +, and neither a default nor a
variable. There are no properties but these, in the order of the tags.

	@schema NAME JSON        the schema of that parameter
	@schema JSON             the schema of all arguments, of the type object

JSON may go on in the comments below. To the schema of a parameter the tag's
description and default are added where it has none; the parameter must have a tag.
The schema of all arguments stands for itself: the tags still say which variables
there are.

# Metadata

	version TEXT, author TEXT
	title TEXT               of the tool, or above the first @cmd, of the server
	readonly, destructive,   what clients may think of calls; each may be followed
	idempotent, open-world   by true or false, and is true otherwise
	timeout SECONDS          how long a call may take; fractions are good
	output-schema FILE       the schema of results
	requires ABILITY…        what clients must be able to do: elicitation, sampling, roots
	require-tools PROGRAM…   what must be there; blanks or commas between, as above
	dotenv [FILE]            variables of the environment; .env if it names none.
	                         Only above the first @cmd.

Others are kept as they are; those that argc knows besides concern command lines.

# What argc does otherwise

Nearly all that argc takes is taken here. These are errors:

  - two parameters of one command that have the same variable, as --url and an
    argument url would
  - two commands whose tools have the same name, as a-b and a_b would
  - a @cmd at the end of the file without a function
  - a default or a choice that is not what its notation says
  - [] without a choice, a backtick without a function, a flag whose name ends in -
  - an option with a mistake behind its long name, as in -f --foo(x): argc reads
    that as -f, and the rest as its description

There is no command line: of the variables argc__args and argc__cmd_arg_index a
script has none, while argc__fn and argc__positionals are as argc has them. A function
that is run by the shell that has sourced the script runs after the script, and not
where it has its eval. _argc_after runs also after a function that failed without
errexit, whose status counts. null for a <JSON> is the text null. A script that runs
main "$@" itself is run as a whole. The file of dotenv stands beside the script; it is
read and not run, and what is in the environment already stays as it is.

What looks like a tag in a string or a here-document is none here. Digits may be in
the name of a VARIABLE, @meta require-tools may be there several times, and in quotes
a backslash before the quote goes away. Options above a command are its own whether
or not @meta inherit-flag-options is there, since a call has no other place for them.
*/
package tags
