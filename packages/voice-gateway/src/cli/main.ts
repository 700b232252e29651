import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import {
  answerOnce,
  EXIT,
  hearFile,
  listen,
  terminal,
  UsageError,
  type VoiceFlags,
  withProject,
} from './commands.ts'

/** Errors that are mistakes in the command or the configuration; by name, because some are Toolpost's classes. */
const MISTAKES = ['UsageError', 'ConfigError', 'ModelError', 'SpeakerError', 'TranscriberError']
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function createProgram(stop: AbortSignal): Command {
  const program = new Command('voice-gateway')
    .description("Speak, and the light goes on: a voice assistant with Toolpost's tools.")
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--model <model>', 'ollama:<model>, anthropic:<model>, openai:<model> or offline')
    .option('--speaker <voice>', 'piper, espeak-ng, say or none (default: whichever is installed)')
    .option('--out <file>', 'write speech to a WAV file instead of playing it')
    .addOption(new Option('--log-level <level>', 'how much to log to stderr').choices(LOG_LEVELS))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .showHelpAfterError('(see voice-gateway --help)')
  const run = async (command: Parameters<typeof withProject>[2]) => {
    process.exitCode = await withProject(program.opts<VoiceFlags>(), stop, command)
  }
  program
    .command('listen', { isDefault: true })
    .description('listen to stdin, MQTT and the microphone until stopped')
    .argument('[nothing...]')
    .option('--no-microphone', 'do not listen to the microphone')
    .action((words: string[], flags: { microphone: boolean }) => {
      if (words.length > 0)
        throw new UsageError(`Unknown command '${words[0]}'; expected one of listen, say, hear`)
      return run(context => listen(context, flags))
    })
  program
    .command('say')
    .description('answer a sentence on stdout')
    .argument('<text...>')
    .option('--json', 'print the whole answer as JSON, with calls and durations')
    .action((words: string[], flags: { json?: boolean }) => {
      const text = words.join(' ').trim()
      if (text === '') throw new UsageError('Nothing to say; try: voice-gateway say "what time is it"')
      return run(context => answerOnce(context, { text }, flags))
    })
  program
    .command('hear')
    .description('answer the speech in a WAV file; - reads it from stdin')
    .argument('<file>')
    .option('--json', 'print the whole answer as JSON, with calls and durations')
    .action((file: string, flags: { json?: boolean }) => run(context => hearFile(context, file, flags)))
  return program
}

function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

async function main(words: string[]): Promise<void> {
  // Even if nobody reads the output any more, shut down in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const stopping = new AbortController()
  let first: NodeJS.Signals | undefined
  const stop = (name: NodeJS.Signals) => {
    if (first === name) process.exit(1)
    if (first !== undefined) return
    first = name
    terminal.say('Stopping; press Ctrl-C again to quit immediately.')
    stopping.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    await createProgram(stopping.signal).parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error)
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

function report(error: unknown): number {
  // Commander has already printed what is wrong; help is not a mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (!(error instanceof Error && MISTAKES.includes(error.name))) throw error
  terminal.say(`Error: ${error.message}`)
  return EXIT.usage
}

await main(process.argv.slice(2))
