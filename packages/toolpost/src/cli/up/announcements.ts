import type { Project } from '../../project/project.ts'
import { say, type Terminal } from '../terminal.ts'
import { durableLine, serverLine, voiceLine } from './overview.ts'

/** Cannot be the name of a server. */
const DURABLE = ' durable'

/** Announces when a server, a part of the voice gateway or the database comes or goes. Failures are reported elsewhere. */
export function announceChanges(project: Project, terminal: Terminal): { stop(): void } {
  const { servers, voice, durable } = project.status()
  const known = new Map([...servers, ...voice].map(({ name, state }) => [name, state as string]))
  known.set(DURABLE, durable?.state ?? '')
  const isNews = ({ name, state }: { name: string; state: string }) => {
    const before = known.get(name)
    known.set(name, state)
    return before !== state && !['starting', 'failed', 'needs_login', 'closed'].includes(state)
  }
  const stops = [
    project.on('server', server => isNews(server) && say(terminal, serverLine(server))),
    project.on('voice', parts => {
      for (const part of parts) if (isNews(part)) say(terminal, voiceLine(part))
    }),
    project.on('durable', ({ type }) => {
      const now = type === 'state' ? project.status().durable : undefined
      if (!now || now.state === known.get(DURABLE)) return
      known.set(DURABLE, now.state)
      if (now.state !== 'starting') say(terminal, durableLine(now))
    }),
  ]
  return {
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}
