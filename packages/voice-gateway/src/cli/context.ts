import type { Logger } from 'toolpost'
import type { ToolpostConfig, VoiceConfig } from 'toolpost/config'
import { openProject, type Project, stderrLogger } from 'toolpost/project'

/** The exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The tool or the answer failed. */
  failed: 1,
  /** The command was misused, or the configuration is wrong: nothing ran. */
  usage: 2,
} as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Answers go to stdout, everything else to stderr. Control characters in a tool's output never reach the terminal. */
export const terminal = {
  print: (text: string): void => void process.stdout.write(`${shown(text, process.stdout.isTTY)}\n`),
  say: (text: string): void => void process.stderr.write(`${shown(text, true)}\n`),
}

function shown(text: string, isForPerson: boolean): string {
  return isForPerson ? text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ') : text
}

export interface VoiceFlags {
  config?: string
  model?: string
  speaker?: string
  out?: string
  logLevel?: string
}

/** What every command has access to. */
export interface CommandContext {
  project: Project
  voice: VoiceConfig
  /** The WAV file that speech is written to instead of being played. */
  outFile: string | undefined
  stop: AbortSignal
}

const SPEAKERS = ['auto', 'piper', 'espeak-ng', 'say', 'none'] as const

/** Opens the project for one command, and leaves no process behind. Resolves to the command's exit code. */
export async function within(
  flags: VoiceFlags,
  stop: AbortSignal,
  command: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const project = await openProject({
    file: flags.config,
    logger: config => logger(flags, config),
    say: text => terminal.say(text),
    // A model requested here must be available; a configured one may fall back to offline sentences.
    model: { wanted: flags.model, isRequired: flags.model !== undefined },
  })
  project.on('model', ({ name, why }) => {
    const { model } = project.config
    if (flags.model === undefined && model !== undefined && name !== model && name === 'offline')
      terminal.say(`Model: ${name} (${why})`)
  })
  try {
    const { voice: configured } = project.config
    const speaker = flags.speaker === undefined ? undefined : { speaker: speakerOf(flags.speaker) }
    // Fails before anything is started.
    if (flags.model !== undefined) await project.model()
    return await command({ project, voice: { ...configured, ...speaker }, outFile: flags.out, stop })
  } finally {
    await project.close()
  }
}

function speakerOf(name: string): (typeof SPEAKERS)[number] {
  const found = SPEAKERS.find(speaker => speaker === name)
  if (!found) throw new UsageError(`invalid voice '${name}'; expected one of ${SPEAKERS.join(', ')}`)
  return found
}

function logger({ logLevel }: VoiceFlags, config: ToolpostConfig): Logger {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  return stderrLogger(level as Parameters<typeof stderrLogger>[0])
}
