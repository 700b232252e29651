import type { ServerControl } from '../../gateway/index.ts'
import { say, type Terminal } from '../terminal.ts'
import { serverLine, voiceLine } from './overview.ts'
import type { Voice } from './voice.ts'

const LOOK_MS = 250

/** Says when a server comes, goes, or comes back after the first word was said. What fails, is said elsewhere. */
export function announceServers(servers: ServerControl, terminal: Terminal): { stop(): void } {
  const known = new Map(servers.status().map(({ name, state }) => [name, state]))
  const look = () => {
    for (const server of servers.status()) {
      const before = known.get(server.name)
      known.set(server.name, server.state)
      const isNews = server.state === 'ready' || server.state === 'lost'
      if (before !== server.state && isNews) say(terminal, serverLine(server))
    }
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** Says when the voice gateway is ready, where it was still starting when the first word was said. */
export function announceVoice(voice: Voice | undefined, terminal: Terminal): void {
  if (!voice?.isStarting) return
  void voice.start().then(() => {
    for (const part of voice.parts) say(terminal, voiceLine(part))
  })
}
