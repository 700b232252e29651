import type { ServerStatus } from 'toolpost/mcp'
import type { AiClient } from 'toolpost/models'
import type { VoiceContext } from './start-voice.ts'

/** Starts the servers. The gateway continues without those that fail, and says so once. */
export function startTools({ project, parts, logger, onNotice }: VoiceContext): void {
  parts.begin('tools', async () => {
    const status = await project.ready()
    const missing = missingIn(status)
    const count = `${project.executor.tools.getTools().length} tools`
    if (missing.length === 0) return count
    const notice = goingOn(status)
    logger.warn({ missing }, notice)
    onNotice(`${notice}: ${missing.join(', ')} unavailable`)
    return `${count}, without ${missing.join(', ')}`
  })
}

/** The names of the servers that have failed or were lost, not of those still starting. */
export function missingIn(status: readonly ServerStatus[]): string[] {
  return status.filter(({ state }) => state === 'failed' || state === 'lost').map(({ name }) => name)
}

function goingOn(status: readonly ServerStatus[]): string {
  return status.some(({ state }) => state === 'ready')
    ? 'Continuing with the available tools'
    : 'Continuing with local tools only'
}

/** A client that names the missing servers if no tool was called: the question may have been meant for them. */
export function tellingOfMissing(client: AiClient, missing: () => readonly string[]): AiClient {
  return {
    async ask(prompt, options) {
      const answer = await client.ask(prompt, options)
      const names = missing()
      if (answer.iterations > 0 || names.length === 0) return answer
      const notice = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} unavailable right now.`
      return { ...answer, text: `${answer.text} ${notice}` }
    },
  }
}
