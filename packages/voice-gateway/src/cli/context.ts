import type { Logger } from 'toolpost'
import type { ToolpostConfig, VoiceConfig } from 'toolpost/config'
import { openProject, type Project, stderrLogger } from 'toolpost/project'
import { UsageError } from 'toolpost-common/exit-codes'
import { terminal } from './terminal.ts'

export interface VoiceFlags {
  config?: string
  model?: string
  speaker?: string
  out?: string
  logLevel?: string
}

/** What a command works with. */
export interface VoiceContext {
  project: Project
  voice: VoiceConfig
  /** Where what is spoken is written instead of being played. */
  outFile: string | undefined
  stop: AbortSignal
}

const SPEAKERS = ['auto', 'piper', 'espeak-ng', 'say', 'none'] as const

/** Opens the project for one command, and leaves no process behind. Resolves to the command's exit code. */
export async function within(
  flags: VoiceFlags,
  stop: AbortSignal,
  command: (context: VoiceContext) => Promise<number>,
): Promise<number> {
  const project = await openProject({
    file: flags.config,
    logger: config => logger(flags, config),
    say: text => terminal.say(text),
    // A model that was asked for here must be available; instead of a configured one, sentences alone will do.
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
    // Refused before anything is started.
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
