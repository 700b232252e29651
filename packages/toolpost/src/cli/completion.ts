import type { Command } from 'commander'
import type { Context } from './context.ts'
import { print, UsageError } from './terminal.ts'

/** `toolpost completion bash|zsh|fish`: prints a completion script, generated from the parser. */
export function printCompletion(program: Command) {
  const flagsOf = ({ options }: Command) => options.flatMap(({ long }) => long ?? [])
  const commands = program.commands.map(command => ({ name: command.name(), flags: flagsOf(command) }))
  const names = commands.map(({ name }) => name)
  const cases = commands.map(({ name, flags }) => `      ${name}) words="${flags.join(' ')}"; break ;;`)
  const bash = `_toolpost() {
  local words="${[...names, ...flagsOf(program)].join(' ')}" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
${cases.join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _toolpost toolpost`
  const fish = commands.flatMap(({ name, flags }) => [
    `complete -c toolpost -f -n __fish_use_subcommand -a ${name}`,
    ...flags.map(flag => `complete -c toolpost -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
  ])
  const zsh = `autoload -U +X bashcompinit && bashcompinit\n${bash}`
  return ({ words: [shell] }: Context<[string]>): number => {
    const script = new Map(Object.entries({ bash, zsh, fish: fish.join('\n') })).get(shell)
    if (!script) throw new UsageError(`invalid shell '${shell}'; expected one of bash, zsh, fish`)
    print(script)
    return 0
  }
}
