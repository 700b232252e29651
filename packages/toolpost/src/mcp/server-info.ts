import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { shortText } from '../runtime/short-text.ts'
import { MAX_INSTRUCTIONS } from './limits.ts'
import type { ServerAbout } from './server-link.ts'
import type { ServerInfo } from './server-status.ts'

/** What is shown of a server's own description. Shortened before it is searched for secrets, since it can be very long. */
export function infoOf({ info, instructions }: ServerAbout): ServerInfo {
  const { name, title, version } = info ?? {}
  const texts = Object.entries({ name, title, version, instructions })
  const shown = texts.filter((text): text is [string, string] => typeof text[1] === 'string')
  return Object.fromEntries(
    shown.map(([key, text]) => {
      const clean = withoutKnownSecretsIn(text.slice(0, 2 * MAX_INSTRUCTIONS))
      return [key, shortText(clean, MAX_INSTRUCTIONS)]
    }),
  )
}

/** The instructions of several servers as one text. */
export function instructionsOf(servers: readonly { name: string; text: string }[]): string | undefined {
  const told = servers
    .map(({ name, text }) => ({ name, text: text.trim() }))
    .filter(({ text }) => text !== '')
  const parts = told.map(({ name, text }) => (told.length === 1 ? text : `# ${name}\n\n${text}`))
  return parts.length > 0 ? shortText(parts.join('\n\n'), MAX_INSTRUCTIONS) : undefined
}
