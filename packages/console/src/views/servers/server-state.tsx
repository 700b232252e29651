import type { ServerStatus } from 'toolpost/gateway'
import { pauseOf } from '../../api/queries.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Badge, type Tone } from '../../ui/controls.tsx'

/** One word per state. */
const STATES: Record<string, { word: string; tone: Tone }> = {
  starting: { word: 'starting', tone: 'accent' },
  ready: { word: 'ready', tone: 'good' },
  lost: { word: 'lost', tone: 'warn' },
  failed: { word: 'failed', tone: 'bad' },
  needs_login: { word: 'needs login', tone: 'warn' },
  closed: { word: 'stopped', tone: 'plain' },
}

export function ServerState({ server }: { server: ServerStatus }) {
  const { state } = server
  const { word, tone } = STATES[state] ?? { word: oneLine(state, 30), tone: 'plain' as const }
  return state === 'ready' && pauseOf(server) ? (
    <Badge tone="warn">calls paused</Badge>
  ) : (
    <Badge tone={tone}>{word}</Badge>
  )
}
