import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config/config.ts'
import { type CallFlags, callTool } from './commands/call.ts'
import { listTools } from './commands/tools.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { type GlobalOptions, openSession } from './session.ts'
import { say, type Terminal } from './terminal.ts'

const terminal: Terminal = { out: process.stdout, err: process.stderr }

function createProgram(): Command {
  const program = new Command('toolpost')
    .description('Executes the tool calls of AI models.')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('-V, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(toolpost --help shows what there is)')
  program
    .command('tools')
    .description('list the tools with their signatures')
    .option('--json', 'as JSON, with schemas')
    .action(async (flags: { json?: boolean }) => finish(listTools(await session(program), flags, terminal)))
  program
    .command('call')
    .description('call a tool with JSON or key=value arguments; - reads JSON from standard input')
    .argument('<tool>')
    .argument('[arguments...]')
    .option('--json', 'print the whole result as JSON')
    .option('--timeout <ms>', 'deadline of the call')
    .action(async (name: string, words: string[], flags: CallFlags) =>
      finish(await callTool(await session(program), [name, ...words], flags, terminal)),
    )
  program
    .command('up')
    .description('list the tools and call them from a prompt')
    .action(async () => {
      const { runPrompt } = await import('./commands/up.ts')
      finish(await runPrompt(await session(program), terminal))
    })
  return program
}

function session(program: Command) {
  return openSession(program.opts<GlobalOptions>())
}

function finish(code: number): void {
  process.exitCode = code
}

async function main(words: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(words, { from: 'user' })
  } catch (error) {
    finish(report(error))
  }
}

function report(error: unknown): number {
  // Commander has already said what is wrong; help and version are no mistakes.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (!(error instanceof ConfigError || error instanceof UsageError)) throw error
  say(terminal, `Error: ${error.message}`)
  return EXIT.usage
}

void main(process.argv.slice(2))
