import type { Logger } from 'toolpost'
import type { ToolpostConfig, VoiceConfig } from 'toolpost/config'
import {
  type AiClient,
  type ChosenClient,
  chooseClient,
  chooseClientOrOffline,
  whenToolsReady,
} from 'toolpost/models'
import { openProject, type Project, stderrLogger } from 'toolpost/project'
import { UsageError } from './exit-codes.ts'
import { terminal } from './terminal.ts'

export interface VoiceFlags {
  config?: string
  model?: string
  speaker?: string
  out?: string
  logLevel?: string
}

/** What a command works with. */
export interface VoiceSession extends Project {
  voice: VoiceConfig
  client: AiClient
  /** Chosen when it is first asked for. */
  model(): Promise<ChosenClient>
  /** Where what is spoken is written instead of being played. */
  outFile: string | undefined
  stop: AbortSignal
}

const SPEAKERS = ['auto', 'piper', 'espeak-ng', 'say', 'none'] as const

/** Opens a session for one command, and leaves no process behind. Gives the command's exit code. */
export async function within(
  flags: VoiceFlags,
  stop: AbortSignal,
  command: (session: VoiceSession) => Promise<number>,
): Promise<number> {
  const project = await openProject({
    file: flags.config,
    logger: config => logger(flags, config),
    say: text => terminal.say(text),
  })
  try {
    const session = sessionOf(project, flags, stop)
    // Refused before anything is started.
    if (flags.model !== undefined) await session.model()
    return await command(session)
  } finally {
    await project.servers.close()
  }
}

function sessionOf(project: Project, flags: VoiceFlags, stop: AbortSignal): VoiceSession {
  const { config, servers } = project
  let choice: Promise<ChosenClient> | undefined
  const model = () => {
    choice ??= choose(flags, project)
    return choice
  }
  const client: AiClient = {
    ask: async (prompt, options) => whenToolsReady(await model(), () => servers.ready()).ask(prompt, options),
  }
  const voice = { ...config.voice, ...(flags.speaker !== undefined && { speaker: speakerOf(flags.speaker) }) }
  return { ...project, config: { ...config, voice }, voice, client, model, outFile: flags.out, stop }
}

/** A model that was asked for here has to be there; without one of the configuration sentences alone must do. */
async function choose({ model }: VoiceFlags, { config, executor, logger }: Project): Promise<ChosenClient> {
  if (model !== undefined) return chooseClient({ model, config, executor, logger })
  const chosen = await chooseClientOrOffline({ config, executor, logger })
  if (config.model !== undefined && chosen.name !== config.model && chosen.name === 'offline')
    terminal.say(`Model: ${chosen.name} (${chosen.why})`)
  return chosen
}

function speakerOf(name: string): (typeof SPEAKERS)[number] {
  const found = SPEAKERS.find(speaker => speaker === name)
  if (!found) throw new UsageError(`There is no voice '${name}': use ${SPEAKERS.join(', ')}`)
  return found
}

function logger({ logLevel }: VoiceFlags, config: ToolpostConfig): Logger {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  return stderrLogger(level as Parameters<typeof stderrLogger>[0])
}
