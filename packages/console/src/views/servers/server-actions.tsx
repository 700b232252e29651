import { useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { changeServer } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { gateway } from '../../state/gateway.ts'
import { oneLine } from '../../text/visible-text.ts'

const VERBS = {
  restart: { label: 'Restart', busy: 'Restarting …', icon: 'restart' },
  stop: { label: 'Stop', busy: 'Stopping …', icon: 'stop' },
  start: { label: 'Start', busy: 'Starting …', icon: 'play' },
} as const
type Verb = keyof typeof VERBS

/** Ends a server and starts it, and says why that was not to be. */
export function ServerActions({ server }: { server: ServerStatus }) {
  const [busy, setBusy] = useState<Verb>()
  const [problem, setProblem] = useState<string>()
  const change = async (verb: Verb) => {
    setBusy(verb)
    setProblem(undefined)
    try {
      gateway.putServer(await changeServer(server.name, verb))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
    setBusy(undefined)
  }
  const verbs: Verb[] = server.state === 'closed' ? ['start'] : ['stop', 'restart']
  return (
    <div className="server-restart">
      {problem !== undefined && (
        <span className="field-problem" role="alert">
          {oneLine(problem)}
        </span>
      )}
      {verbs.map(verb => (
        <Button
          key={verb}
          icon={VERBS[verb].icon}
          disabled={busy !== undefined}
          aria-label={`${VERBS[verb].label} ${oneLine(server.name)}`}
          onClick={() => void change(verb)}
        >
          {busy === verb ? VERBS[verb].busy : VERBS[verb].label}
        </Button>
      ))}
    </div>
  )
}
