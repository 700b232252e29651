import { useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { changeServer } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/problem.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { gateway } from '../../state/gateway.ts'
import { oneLine } from '../../text/visible-text.ts'

const VERBS = {
  restart: { label: 'Restart', busy: 'Restarting …', icon: 'restart' },
  stop: { label: 'Stop', busy: 'Stopping …', icon: 'stop' },
  start: { label: 'Start', busy: 'Starting …', icon: 'play' },
} as const
type Verb = keyof typeof VERBS

/** Stops and starts a server, and says why if it fails. */
export function ServerActions({ server }: { server: ServerStatus }) {
  const [busy, setBusy] = useState<Verb>()
  const { problem, attempt } = useAttempt()
  const change = async (verb: Verb) => {
    setBusy(verb)
    await attempt(async () => gateway.putServer(await changeServer(server.name, verb)))
    setBusy(undefined)
  }
  const verbs: Verb[] = server.state === 'closed' ? ['start'] : ['stop', 'restart']
  return (
    <div className="server-restart">
      <Problem text={problem} />
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
