import { Command, CommanderError } from 'commander'
import { type CallFlags, callTool } from './commands/call.ts'
import type { ChatFlags } from './commands/chat.ts'
import type { ServeFlags } from './commands/serve.ts'
import { listTools } from './commands/tools.ts'
import type { UpFlags } from './commands/up.ts'
import { EXIT } from './exit-codes.ts'
import { type GlobalOptions, openSession, type Session } from './session.ts'
import { type StopSignals, stopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

const terminal: Terminal = { out: process.stdout, err: process.stderr }

function createProgram(stop: StopSignals): Command {
  const program = new Command('toolpost')
    .description('Executes the tool calls of AI models.')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('-V, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(toolpost --help shows what there is)')
  /** Opens a session for one command, sets its exit code, and leaves no process behind, also when it is stopped. */
  const within = async (command: (session: Session) => number | Promise<number>) => {
    const session = await openSession(program.opts<GlobalOptions>(), terminal, stop)
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
    .option('--voice', 'listen and speak as well, with the voice gateway')
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
  // Where nobody reads any more what is said, the servers are to be closed all the same.
  for (const stream of [terminal.out, terminal.err]) stream.on('error', () => {})
  const stop = stopSignals()
  try {
    await createProgram(stop).parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error)
  } finally {
    stop.forget()
  }
  if (stop.exitCode !== undefined) endStopped(stop.exitCode)
}

/** A command that ended well has its own way to be stopped. What others still wait for, such as input, is left. */
function endStopped(exitCode: number): never {
  process.exit(process.exitCode === EXIT.ok ? EXIT.ok : exitCode)
}

function report(error: unknown): number {
  // Commander has already said what is wrong; help and version are no mistakes.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  // By name: commands that are loaded beside the bundle have classes of their own.
  if (!(error instanceof Error) || !['ConfigError', 'UsageError', 'Stopped'].includes(error.name)) throw error
  const isStopped = error.name === 'Stopped'
  say(terminal, isStopped ? 'Stopped.' : `Error: ${error.message}`)
  return isStopped ? EXIT.failed : EXIT.usage
}

void main(process.argv.slice(2))
