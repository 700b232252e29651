import type { ServerStatus } from 'toolpost/gateway'
import { logInAt } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/problem.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { oneLine } from '../../text/visible-text.ts'

/** Opens a server's login page in a new window; the gateway receives the response. */
export function LoginButton({ server }: { server: ServerStatus }) {
  const { problem, attempt } = useAttempt()
  const logIn = async () => {
    // Opened before any await: later, a browser would block it as a pop-up.
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

/** In this window, if the browser did not open another. */
function show(url: string, page: Window | null): void {
  if (!/^https?:/.test(url)) throw new Error('The gateway returned no login page')
  if (!page) return window.location.assign(url)
  page.opener = null
  page.location.replace(url)
}
