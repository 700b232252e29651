import { useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { logInAt } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { oneLine } from '../../text/visible-text.ts'

/** Opens the login page of a server in a window of its own; the gateway takes the answer. */
export function LoginButton({ server }: { server: ServerStatus }) {
  const [problem, setProblem] = useState<string>()
  const logIn = async () => {
    // Opened before anything is waited for: later, a browser would take it for an advertisement.
    const page = window.open('about:blank', '_blank')
    try {
      const url = await logInAt(server.name)
      setProblem(undefined)
      if (url === undefined) page?.close()
      else show(url, page)
    } catch (error) {
      page?.close()
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <div className="server-restart">
      {problem !== undefined && (
        <span className="field-problem" role="alert">
          {oneLine(problem)}
        </span>
      )}
      <Button look="primary" aria-label={`Log in at ${oneLine(server.name)}`} onClick={() => void logIn()}>
        Log in
      </Button>
    </div>
  )
}

/** In this window, if the browser opens no other. */
function show(url: string, page: Window | null): void {
  if (!/^https?:/.test(url)) throw new Error('The gateway named no web page')
  if (!page) return window.location.assign(url)
  page.opener = null
  page.location.replace(url)
}
