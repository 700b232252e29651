import { gateway } from '../state/gateway.ts'
import { useStore } from '../state/store.ts'
import { useNow } from './use-now.ts'

/** Says plainly that the gateway is gone, and when it is tried again. */
export function ConnectionBanner() {
  const connection = useStore(gateway, state => state.connection)
  return (
    <div role="status" className="banner-place">
      {connection.state === 'gone' && (
        <div className="banner">
          <p>
            <strong>The gateway does not answer.</strong> Is <code>toolpost up</code> still running? What you
            see may be out of date; this page comes back by itself.
          </p>
          <Countdown until={connection.retryAt} />
          <button type="button" className="button" onClick={() => gateway.retryNow()}>
            Try now
          </button>
        </div>
      )}
    </div>
  )
}

function Countdown({ until }: { until: number }) {
  const now = useNow(500)
  const seconds = Math.ceil((until - now) / 1_000)
  return (
    <span className="banner-countdown" aria-hidden="true">
      {seconds > 0 ? `Next attempt in ${seconds} s` : 'Trying …'}
    </span>
  )
}
