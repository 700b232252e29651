import { fstatSync, readFileSync } from 'node:fs'
import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, CommanderError, Option } from 'commander'
import { systemClock } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import { openProject, type Project } from 'toolpost/project'
import { askAtTerminal, stderrLogger } from 'toolpost/terminal'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import { DEFAULT_CONVERSATION, type Utterance, type VoiceBus } from '../messages.ts'
import { findSpeaker, type Speaker } from '../speech-out/speaker.ts'
import { grammarOf, makeTranscriber, NO_VOICE } from '../start-up/outfit.ts'
import { startVoice } from '../start-up/start-voice.ts'

/** The exit codes of every command: an answer that failed is 1, a mistake in the command or configuration 2. */
const EXIT = { ok: 0, failed: 1, usage: 2 } as const
/** Errors that are mistakes in the command or the configuration; by name, because some are Toolpost's classes. */
const MISTAKES = ['UsageError', 'ConfigError', 'ModelError', 'SpeakerError', 'TranscriberError']
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const SPEAKERS = ['auto', 'piper', 'espeak-ng', 'say', 'none'] as const
const TERMINAL = 'terminal'

/** A misuse of the command line, reported in one line. */
class UsageError extends Error {
  override name = 'UsageError'
}

interface VoiceFlags {
  config?: string
  model?: string
  speaker?: (typeof SPEAKERS)[number]
  out?: string
  logLevel?: (typeof LOG_LEVELS)[number]
}

/** The whole answer is printed. */
type JsonFlag = { json?: boolean }

/** What every command has access to. */
interface CommandContext {
  project: Project
  voice: VoiceConfig
  outFile: string | undefined
  stop: AbortSignal
}

/** Answers go to stdout, everything else to stderr. Control characters in a tool's output never reach the terminal. */
const terminal = {
  print: (text: string): void => void process.stdout.write(`${process.stdout.isTTY ? plain(text) : text}\n`),
  say: (text: string): void => void process.stderr.write(`${plain(text)}\n`),
}

function plain(text: string): string {
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ')
}

function createProgram(stop: AbortSignal): Command {
  const file = new URL('../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  const speaker = new Option('--speaker <voice>', 'the voice (default: whichever is installed)')
  const json = new Option('--json', 'print the whole answer as JSON, with calls and durations')
  const program = new Command('voice-gateway')
    .description("Speak, and the light goes on: a voice assistant with Toolpost's tools.")
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--model <model>', 'ollama:<model>, anthropic:<model>, openai:<model> or offline')
    .addOption(speaker.choices(SPEAKERS))
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
    .addOption(json)
    .action((words: string[], flags: JsonFlag) => {
      const text = words.join(' ').trim()
      if (text === '') throw new UsageError('Nothing to say; try: voice-gateway say "what time is it"')
      return run(context => answerOnce(context, { text }, flags))
    })
  program
    .command('hear')
    .description('answer the speech in a WAV file; - reads it from stdin')
    .argument('<file>')
    .addOption(json)
    .action((file: string, flags: JsonFlag) => run(context => hearFile(context, file, flags)))
  return program
}

/** Opens the project for one command, and leaves no process behind. Resolves to the command's exit code. */
async function withProject(
  flags: VoiceFlags,
  stop: AbortSignal,
  command: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const project = await openProject({
    file: flags.config,
    logger: ({ log }) => {
      const level = flags.logLevel ?? process.env.TOOLPOST_LOG ?? log?.level ?? 'fatal'
      return stderrLogger(level as Parameters<typeof stderrLogger>[0])
    },
    say: terminal.say,
    // A model requested here must be available; a configured one may fall back to offline sentences.
    model: { wanted: flags.model, isRequired: flags.model !== undefined },
  })
  const { voice, model } = project.config
  project.on('model', ({ name, why }) => {
    if (flags.model === undefined && model !== undefined && name !== model && name === 'offline')
      terminal.say(`Model: ${name} (${why})`)
  })
  try {
    // Fails before anything is started.
    if (flags.model !== undefined) await project.model()
    const chosen = { ...voice, ...(flags.speaker && { speaker: flags.speaker }) }
    return await command({ project, voice: chosen, outFile: flags.out, stop })
  } finally {
    await project.close()
  }
}

/** `voice-gateway hear file.wav`, or raw PCM as over MQTT; `-` is stdin. */
async function hearFile(context: CommandContext, file: string, flags: JsonFlag): Promise<number> {
  context.stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  const reading = file === '-' ? process.stdin.toArray().then(Buffer.concat) : readFile(file)
  const pcm = await reading.catch((cause: Error) => {
    // Without the code and the call around it: "no such file or directory".
    const reason = cause.message.replace(/^[A-Z]+: |, \w+(?: '.*')?$/g, '')
    throw new UsageError(`${file} cannot be read: ${reason}`, { cause })
  })
  return answerOnce(context, { pcm }, flags)
}

/** Answers one utterance, on stdout and aloud. Starts only what it needs. */
async function answerOnce(context: CommandContext, utterance: Utterance, flags: JsonFlag): Promise<number> {
  const { project, voice, stop, outFile } = context
  const { client, executor, logger } = project
  const grammar = grammarOf(project, systemClock)
  const speaker = await findVoice(context)
  const transcriber = makeTranscriber(voice, logger)
  let isSpoken = true
  try {
    if (!('text' in utterance)) {
      // In parallel with loading the model, which is a configuration mistake if it fails.
      void grammar().catch(() => {})
      await transcriber.ready()
    }
    const background = new BackgroundTranscriber({
      transcriber,
      grammar,
      client,
      executor,
      speaker,
      logger,
      filler: voice.filler,
      ask: askAtTerminal({ output: process.stderr, say: terminal.say }),
      bus: printer(DEFAULT_CONVERSATION, flags),
      onNotice: notice => {
        isSpoken = false
        terminal.say(notice)
      },
    })
    const end = () => void background.close({ drainMs: 0 })
    stop.addEventListener('abort', end, { once: true })
    const taken = background.take(utterance)
    if (stop.aborted) end()
    const isAnswered = taken.accepted && (await taken.done).outcome === 'answered'
    return isAnswered && (isSpoken || outFile === undefined) ? EXIT.ok : EXIT.failed
  } finally {
    await transcriber.close()
  }
}

/** With `--out` a voice is required; without it, the answer may be text only. */
async function findVoice({ voice, outFile }: CommandContext): Promise<Speaker | undefined> {
  // Checked before anything is done that cannot be undone.
  if (outFile !== undefined)
    await access(dirname(outFile), constants.W_OK).catch(cause => {
      throw new UsageError(`--out ${outFile}: its folder does not exist or is not writable`, { cause })
    })
  const isSilent = voice.speaker === 'none' || (voice.player === 'none' && outFile === undefined)
  const speaker = isSilent ? undefined : await findSpeaker({ ...voice, voice: voice.speaker, outFile })
  if (speaker || (isSilent && outFile === undefined)) return speaker
  if (outFile !== undefined)
    throw new UsageError(`--out needs a voice${isSilent ? ', not none' : `: ${NO_VOICE}`}`)
  terminal.say(`The answer is ${NO_VOICE}`)
  return undefined
}

/**
 * Prints answers of the own conversation to stdout as soon as they are complete, before they are spoken, and everything
 * else to stderr.
 */
function printer(own: string, { json }: JsonFlag, onAsked = () => {}): VoiceBus {
  const from = (conversation: string) => (conversation === own ? '' : `${conversation}: `)
  return {
    question: ({ conversation, text }) => {
      terminal.say(`${from(conversation)}${text}`)
      if (conversation === own) onAsked()
    },
    timer: ({ text }) => terminal.say(text),
    transcription: ({ conversation, source, text, free_text: free = text }) => {
      if (conversation === own && source === 'audio' && text !== '')
        terminal.say(`Heard: ${text}${free === text ? '' : ` ("${free}")`}`)
    },
    response: response => {
      const { conversation, question, text, outcome, error } = response
      if (json) return terminal.print(JSON.stringify(response))
      if (conversation === own && text !== '') terminal.print(text)
      else if (text !== '') terminal.say(`${conversation}: ${question || '…'} → ${text}`)
      // "Not understood" is phrased in many ways.
      const isTold = text !== '' && (!error || text.includes(error) || error === 'it was not understood')
      if (outcome !== 'answered' && !isTold) terminal.say(`${from(conversation)}No answer: ${error}`)
    },
  }
}

/** `voice-gateway`: listens until stopped; if lines are piped in, until they are answered. */
async function listen(context: CommandContext, flags: { microphone: boolean }): Promise<number> {
  const { project, voice, outFile, stop } = context
  let onAsked = () => {}
  const gateway = await startVoice({
    project,
    outFile,
    voice: { ...voice, microphone: flags.microphone && voice.microphone !== false },
    bus: printer(TERMINAL, {}, () => onAsked()),
    onNotice: notice => {
      if (!stop.aborted) terminal.say(notice)
    },
  })
  const ready = gateway.ready().then(({ parts, durationMs }) => {
    if (stop.aborted) return
    for (const { name, state, text, durationMs: ms } of parts)
      terminal.say(`${state === 'ready' ? '✔' : '✘'} ${name.padEnd(10)} ${text} (${ms} ms)`)
    terminal.say(
      `Ready after ${(durationMs / 1_000).toFixed(1)} s. Say or type something; press Ctrl-C to stop.`,
    )
  })
  const stopped = new Promise<true>(resolve => {
    if (stop.aborted) resolve(true)
    stop.addEventListener('abort', () => resolve(true), { once: true })
  })

  /** Piped lines are handled one by one, except that a question takes the next line as its answer. */
  const answerLines = async () => {
    const outcomes: Promise<boolean>[] = []
    for await (const line of createInterface({ input: process.stdin, signal: stop })) {
      if (line.trim() === '') continue
      const asked = new Promise<void>(resolve => {
        onAsked = resolve
      })
      const taken = gateway.transcriber.take({ text: line, conversation: TERMINAL })
      if (!taken.accepted) terminal.say(`Not accepted: ${taken.reason}`)
      const answered = taken.accepted && taken.done.then(({ outcome }) => outcome === 'answered')
      outcomes.push(Promise.resolve(answered))
      // A person at a terminal may interrupt what is being spoken.
      if (!process.stdin.isTTY) await Promise.race([answered, asked])
    }
    return (await Promise.all(outcomes)).every(Boolean)
  }
  const lines = answerLines()
  const hasAnswered = await Promise.race([stopped, hasEnd() ? lines : stopped])
  if (!stop.aborted) await ready
  await gateway.close()
  return hasAnswered ? EXIT.ok : EXIT.failed
}

/** Whether stdin will end, and the program with it: a pipe, file or terminal does; a service's stdin does not. */
function hasEnd(): boolean {
  try {
    return process.stdin.isTTY || !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

async function main(words: string[]): Promise<void> {
  // Even if nobody reads the output any more, shut down in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const stopping = new AbortController()
  const stop = () => {
    if (stopping.signal.aborted) process.exit(1)
    terminal.say('Stopping; press Ctrl-C again to quit immediately.')
    stopping.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    await createProgram(stopping.signal).parseAsync(words, { from: 'user' })
  } catch (error) {
    // Commander has already printed what is wrong; help is not a mistake.
    const isPrinted = error instanceof CommanderError
    if (!isPrinted && !(error instanceof Error && MISTAKES.includes(error.name))) throw error
    if (!isPrinted) terminal.say(`Error: ${error.message}`)
    process.exitCode = isPrinted && error.exitCode === 0 ? EXIT.ok : EXIT.usage
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

await main(process.argv.slice(2))
