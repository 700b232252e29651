import type { Clock } from '../runtime/clock.ts'
import { coalesced } from '../runtime/coalesced.ts'
import type { GatewayContext } from './gateway-context.ts'
import { shortRun } from './run-view.ts'

/** Publishes changes of tools, servers, approvals, questions, runs and speech as events. */
export function tellOfChanges(
  { executor, source, events, questions }: GatewayContext,
  clock: Clock | undefined,
) {
  const tellServers = () => {
    if (events.clients === 0) return
    const { servers } = source.status()
    events.publish('servers', { servers }, JSON.stringify(servers).length)
  }
  const tellApprovals = () => {
    const waiting = source.approvals?.list() ?? []
    events.publish('approvals', { approvals: waiting }, JSON.stringify(waiting).length)
  }
  const tellQuestions = () => {
    const open = questions.list()
    events.publish('questions', { questions: open }, JSON.stringify(open).length)
  }
  const servers = coalesced(tellServers, clock)
  const approvals = coalesced(tellApprovals, clock)
  const asked = coalesced(tellQuestions, clock)
  const tools = coalesced(() => events.publish('tools', {}), clock)
  return [
    executor.tools.onChange(tools.soon),
    source.on('server', servers.soon),
    source.on('approval', approvals.soon),
    questions.onChange(asked.soon),
    source.onDurable?.(change => {
      if (change.type !== 'run') return
      const { run, bytes } = shortRun(change.run)
      events.publish('run', run, bytes)
    }) ?? (() => {}),
    source.on('voice', () => events.publish('voice', { available: source.voice() !== undefined })),
    servers.stop,
    approvals.stop,
    asked.stop,
    tools.stop,
  ]
}
