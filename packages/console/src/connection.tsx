import { useState } from 'react'
import { enterToken, retryNow, useLive } from './api/events.ts'
import { Button, Notice, TimeLeft } from './ui/controls.tsx'

/** Says so while the gateway is away. */
export function Connection() {
  const connection = useLive(live => live.connection)
  if (connection.state !== 'gone') return null
  return (
    <Notice tone="warn" role="alert" className="rounded-none">
      <span>
        The gateway is not responding. Trying again in <TimeLeft until={connection.retryAt} />.
      </span>
      <Button onClick={retryNow}>Try now</Button>
    </Notice>
  )
}

/** The gateway answered 401: it wants a token, or another one. */
export function TokenPrompt() {
  const refused = useLive(({ connection }) => connection.state === 'token' && connection.refused)
  const [token, setToken] = useState('')
  return (
    <main className="flex h-full items-center justify-center p-6">
      <form
        className="card flex w-full max-w-md flex-col gap-3 p-6"
        onSubmit={event => {
          event.preventDefault()
          if (token.trim()) enterToken(token.trim())
          setToken('')
        }}
      >
        <h1 className="text-lg">Enter the token</h1>
        <p className="text-muted">
          {refused
            ? 'The gateway refused this token: it has been replaced, or it belongs to another gateway. '
            : 'This gateway answers only with its token. '}
          Run <code>toolpost token</code> in its folder, on the machine where it runs, and paste what it
          prints.
        </p>
        <label className="flex flex-col gap-1">
          <span className="label">Token</span>
          <input
            type="password"
            className="control"
            value={token}
            autoComplete="current-password"
            // biome-ignore lint/a11y/noAutofocus: the only field of the page
            autoFocus
            onChange={event => setToken(event.target.value)}
          />
        </label>
        <Button type="submit" look="primary" disabled={token.trim() === ''}>
          Connect
        </Button>
      </form>
    </main>
  )
}
