import { Loading } from '../../components/empty-state.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { ActivityCard } from './activity-card.tsx'
import { FavouritesCard } from './favourites-card.tsx'
import { LastCalls } from './last-calls.tsx'
import { ServersCard } from './servers-card.tsx'
import { ThingsToTry } from './things-to-try.tsx'
import { WaitingCard } from './waiting-card.tsx'

/** The overall status, and what to do next. */
export function HomeView() {
  const isRead = useStore(gateway, ({ tools, servers, calls }) => Boolean(tools && servers && calls))
  return (
    <div className="page home">
      <PageHead title="Home" sub={<Summary />} />
      {isRead ? (
        <>
          <WaitingCard />
          <div className="home-grid">
            <ActivityCard />
            <ServersCard />
            <LastCalls />
            <FavouritesCard />
          </div>
          <ThingsToTry />
        </>
      ) : (
        <Loading label="Loading the overview" rows={4} />
      )}
    </div>
  )
}

function Summary() {
  const tools = useStore(gateway, state => state.tools?.length)
  const servers = useStore(gateway, state => state.servers)
  const model = useStore(gateway, state => state.model?.name)
  if (tools === undefined || servers === undefined) return null
  const ready = servers.filter(({ state }) => state === 'ready').length
  const parts = [
    counted(tools, 'tool'),
    servers.length === 0 ? undefined : `${ready} of ${counted(servers.length, 'server')} ready`,
    model && `model ${model}`,
  ].filter(Boolean)
  return parts.map((part, at) => (
    <span key={part}>
      {at > 0 && ' · '}
      <span>{part}</span>
    </span>
  ))
}
