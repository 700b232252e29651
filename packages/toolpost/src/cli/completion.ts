import type { Command, Option } from 'commander'
import { EXIT, UsageError } from './exit-codes.ts'
import { printResult, type Terminal } from './terminal.ts'

/** Generated from the parser, so that no command is ever missing. */
interface Completions {
  commands: { name: string; description: string; flags: string[] }[]
  flags: string[]
}

const SHELLS: Record<string, (completions: Completions) => string> = { bash, zsh, fish }

/** `toolpost completion bash|zsh|fish`: prints a completion script. */
export function printCompletion(program: Command, shell: string, terminal: Terminal): number {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (!write)
    throw new UsageError(`invalid shell '${shell}'; expected one of ${Object.keys(SHELLS).join(', ')}`)
  printResult(terminal, write(completionsOf(program)))
  return EXIT.ok
}

function completionsOf(program: Command): Completions {
  const commands = program.commands.map(command => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.flatMap(flagsOf),
  }))
  return { commands, flags: program.options.flatMap(flagsOf) }
}

function flagsOf({ long }: Option): string[] {
  return long ? [long] : []
}

function bash({ commands, flags }: Completions): string {
  const cases = commands.map(({ name, flags: own }) => `    ${name}) words="${own.join(' ')}" ;;`)
  return `# toolpost completion bash >> ~/.bashrc
_toolpost() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${commands.map(({ name }) => name).join('|')}) command="\${COMP_WORDS[i]}"; break ;;
    esac
  done
  case "$command" in
    "") words="${[...commands.map(({ name }) => name), ...flags].join(' ')}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _toolpost toolpost`
}

function zsh({ commands, flags }: Completions): string {
  const described = commands.map(({ name, description }) => `    '${name}:${single(description)}'`)
  const cases = commands.map(({ name, flags: own }) => `    ${name}) compadd -- ${own.join(' ')} ;;`)
  return `#compdef toolpost
# toolpost completion zsh > "\${fpath[1]}/_toolpost"
_toolpost() {
  local -a commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    compadd -- ${flags.join(' ')}
    return
  fi
  case "\${words[2]}" in
${cases.join('\n')}
  esac
  _files
}
compdef _toolpost toolpost`
}

function fish({ commands, flags }: Completions): string {
  const isFirst = '-n __fish_use_subcommand'
  const lines = commands.flatMap(({ name, description, flags: own }) => [
    `complete -c toolpost -f ${isFirst} -a ${name} -d '${single(description)}'`,
    ...own.map(flag => `complete -c toolpost -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
  ])
  return [
    '# toolpost completion fish > ~/.config/fish/completions/toolpost.fish',
    ...flags.map(flag => `complete -c toolpost ${isFirst} -l ${flag.slice(2)}`),
    ...lines,
  ].join('\n')
}

/** Made safe for single quotes in a shell, and for zsh, where a colon ends a name. */
function single(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ',')
}
