import { Command, CommanderError } from 'commander'
import { type CallFlags, callTool } from './commands/call.ts'
import type { ChatFlags } from './commands/chat.ts'
import type { ServeFlags } from './commands/serve.ts'
import { listTools } from './commands/tools.ts'
import type { UpFlags } from './commands/up.ts'
import { EXIT } from './exit-codes.ts'
import { type GlobalOptions, openSession, type Session } from './session.ts'
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
  /** Opens a session for one command, sets its exit code, and leaves no process behind. */
  const within = async (command: (session: Session) => number | Promise<number>) => {
    const session = await openSession(program.opts<GlobalOptions>(), terminal)
    try {
      process.exitCode = await command(session)
    } finally {
      await session.servers.close()
    }
  }
  program
    .command('tools')
    .description('list the tools with their signatures')
    .option('--json', 'as JSON, with schemas')
    .action((flags: { json?: boolean }) => within(session => listTools(session, flags, terminal)))
  program
    .command('call')
    .description('call a tool with JSON or key=value arguments; - reads JSON from standard input')
    .argument('<tool>')
    .argument('[arguments...]')
    .option('--json', 'print the whole result as JSON')
    .option('--timeout <ms>', 'deadline of the call')
    .action((name: string, words: string[], flags: CallFlags) =>
      within(session => callTool(session, [name, ...words], flags, terminal)),
    )
  program
    .command('chat')
    .description('ask a question, or hold a conversation')
    .argument('[question]')
    .option('--model <model>', 'ollama:<model>, anthropic:<model> or offline')
    .option('--timeout <ms>', 'time for one answer')
    .action((question: string | undefined, flags: ChatFlags) =>
      within(async session => {
        const { chat } = await import('./commands/chat.ts')
        return chat(session, question, flags, terminal)
      }),
    )
  program
    .command('doctor')
    .description('look whether everything that is configured works')
    .action(() =>
      within(async session => {
        const { examine } = await import('./commands/doctor.ts')
        return examine(session, terminal)
      }),
    )
  program
    .command('up')
    .description('start everything: tools, servers, HTTP API, MCP endpoint and console')
    .option('--host <address>', 'where to listen (default: 127.0.0.1); elsewhere only with a token')
    .option('--port <number>', 'on which port (default: 4040, or the next free one)')
    .option('--token <token>', 'asked of every client (default: TOOLPOST_TOKEN)')
    .option('--allow-host <name...>', 'further names under which clients may address it')
    .action((flags: UpFlags) =>
      within(async session => {
        const { runUp } = await import('./commands/up.ts')
        return runUp(session, flags, terminal)
      }),
    )
  program
    .command('serve')
    .description('offer the tools as an MCP server')
    .option('--stdio', 'on standard input and output')
    .action((flags: ServeFlags) =>
      within(async session => {
        const { runServe } = await import('./commands/serve.ts')
        return runServe(session, flags, terminal)
      }),
    )
  return program
}

async function main(words: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error)
  }
}

function report(error: unknown): number {
  // Commander has already said what is wrong; help and version are no mistakes.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  // By name: commands that are loaded beside the bundle have classes of their own.
  if (!(error instanceof Error) || !['ConfigError', 'UsageError'].includes(error.name)) throw error
  say(terminal, `Error: ${error.message}`)
  return EXIT.usage
}

void main(process.argv.slice(2))
