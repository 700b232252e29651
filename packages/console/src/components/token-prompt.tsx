import { type FormEvent, useState } from 'react'
import { gateway } from '../state/gateway.ts'
import { Button } from './button.tsx'

export function TokenPrompt({ refused }: { refused: boolean }) {
  const [token, setToken] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (token.trim() !== '') gateway.adoptToken(token.trim())
  }
  return (
    <form className="card token-prompt" onSubmit={submit}>
      <h1>This gateway requires a token</h1>
      <p className="muted">
        Run <code>toolpost token</code> in the folder of the gateway to see it. It is stored in this browser.
      </p>
      <label className="field-label" htmlFor="token">
        Token
      </label>
      <input
        id="token"
        type="password"
        autoComplete="off"
        value={token}
        onChange={event => setToken(event.target.value)}
        aria-invalid={refused}
        aria-describedby={refused ? 'token-refused' : undefined}
      />
      {refused && (
        <p id="token-refused" className="field-problem" role="alert">
          The gateway refused this token.
        </p>
      )}
      <Button type="submit" look="primary">
        Open the console
      </Button>
    </form>
  )
}
