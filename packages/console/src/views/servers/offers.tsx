import { useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { listOffers, type Offer, type Offers as OffersOf } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { counted } from '../../text/figures.ts'
import { messageOf } from '../../text/message-of.ts'
import { oneLine } from '../../text/visible-text.ts'
import { PromptTrial } from './prompt-trial.tsx'
import { ResourceTrial } from './resource-trial.tsx'

/** The resources and prompts of a server, loaded when opened. */
export function Offers({ server: { name, capabilities = [] } }: { server: ServerStatus }) {
  const [offers, setOffers] = useState<OffersOf | { problem: string }>()
  const has = capabilities.includes('resources') || capabilities.includes('prompts')
  const load = () => {
    listOffers(name)
      .then(setOffers)
      .catch(error => setOffers({ problem: messageOf(error) }))
  }
  if (!has) return null
  return (
    <details className="server-offers" onToggle={event => event.currentTarget.open && load()}>
      <summary>Resources and prompts</summary>
      {offers === undefined && <p className="muted">Loading …</p>}
      {offers && 'problem' in offers && (
        <p className="field-problem" role="alert">
          {oneLine(offers.problem)} <Button onClick={load}>Try again</Button>
        </p>
      )}
      {offers && 'resources' in offers && <Lists offers={offers} />}
    </details>
  )
}

function Lists({ offers: { resources, templates, prompts } }: { offers: OffersOf }) {
  if (resources.length + templates.length + prompts.length === 0)
    return <p className="muted">None at the moment.</p>
  return (
    <>
      <List what="resource" offers={[...resources, ...templates]} />
      <List what="prompt" offers={prompts} />
    </>
  )
}

const SHOWN = 50

function List({ what, offers }: { what: 'resource' | 'prompt'; offers: Offer[] }) {
  const [limit, setLimit] = useState(SHOWN)
  if (offers.length === 0) return null
  return (
    <section>
      <h3>{counted(offers.length, what)}</h3>
      <ul className="offers">
        {offers.slice(0, limit).map(offer => (
          <li key={offer.uri ?? offer.name}>
            {what === 'prompt' ? <PromptTrial prompt={offer} /> : <ResourceTrial resource={offer} />}
          </li>
        ))}
      </ul>
      {offers.length > limit && (
        <Button look="quiet" onClick={() => setLimit(limit + SHOWN)}>
          Show more
        </Button>
      )}
    </section>
  )
}
