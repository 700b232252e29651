import type { ReactNode } from 'react'
import { gateway } from '../state/gateway.ts'
import { useStore } from '../state/store.ts'
import { oneLine } from '../text/visible-text.ts'
import { Button } from './button.tsx'
import { useCountdown } from './use-now.ts'

/** Says that the gateway is unreachable and when the next attempt is, or what it could not list. */
export function ConnectionBanner() {
  const connection = useStore(gateway, state => state.connection)
  const problems = useStore(gateway, state => state.problems)
  return (
    <div role="status" className="banner-place">
      {connection.state === 'gone' && (
        <Banner action="Try now" onAction={() => gateway.retryNow()}>
          <p>
            <strong>The gateway is not responding.</strong> Is <code>toolpost up</code> still running? What
            you see may be out of date; this page reconnects by itself.
          </p>
          <Countdown until={connection.retryAt} />
        </Banner>
      )}
      {Object.entries(problems).map(([name, problem]) => (
        <Banner key={name} action="Try again" onAction={() => gateway.retryLists()}>
          <p>
            <strong>The gateway could not list its {name}:</strong> {oneLine(problem)}
          </p>
        </Banner>
      ))}
    </div>
  )
}

interface BannerProps {
  children: ReactNode
  action: string
  onAction: () => void
}

function Banner({ children, action, onAction }: BannerProps) {
  return (
    <div className="banner">
      {children}
      <Button onClick={onAction}>{action}</Button>
    </div>
  )
}

function Countdown({ until }: { until: number }) {
  return (
    <span className="banner-countdown" aria-hidden="true">
      {useCountdown(until, 'Trying …')}
    </span>
  )
}
