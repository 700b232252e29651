import type { ServerStatus } from 'toolpost/gateway'
import { logInAt } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/problem.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { oneLine } from '../../text/visible-text.ts'

/** Opens the login page of a server in a new window; the gateway takes the answer. */
export function LoginButton({ server }: { server: ServerStatus }) {
  const { problem, attempt } = useAttempt()
  const logIn = async () => {
    // Opened before anything is waited for: later, a browser would take it for a pop-up.
    const page = window.open('about:blank', '_blank')
    try {
      const url = await logInAt(server.name)
      if (url === undefined) page?.close()
      else show(url, page)
    } catch (error) {
      page?.close()
      throw error
    }
  }
  return (
    <div className="server-restart">
      <Problem text={problem} />
      <Button
        look="primary"
        aria-label={`Log in to ${oneLine(server.name)}`}
        onClick={() => void attempt(logIn)}
      >
        Log in
      </Button>
    </div>
  )
}

/** In this window, if the browser opens no other. */
function show(url: string, page: Window | null): void {
  if (!/^https?:/.test(url)) throw new Error('The gateway gave no login page')
  if (!page) return window.location.assign(url)
  page.opener = null
  page.location.replace(url)
}
