import type { Project } from '../../project/project.ts'
import { say, type Terminal } from '../terminal.ts'
import { serverLine, voiceLine } from './overview.ts'

/** Says when a server or a part of the voice gateway comes, goes or comes back. Failures are reported elsewhere. */
export function announceChanges(project: Project, terminal: Terminal): { stop(): void } {
  const { servers, voice } = project.status()
  const known = new Map([...servers, ...voice].map(({ name, state }) => [name, state as string]))
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
  ]
  return {
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}
