import { type SyntheticEvent, useState } from 'react'
import { type Offer, readResource } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { oneLine } from '../../text/visible-text.ts'
import { Outcome, useTrial } from './trial.tsx'

const VARIABLE = /\{[^{}]{1,100}\}/

/** A resource to open; the variables of a template are filled in first. */
export function ResourceTrial({ resource }: { resource: Offer }) {
  const { name, title = name, description, uri = '', mimeType } = resource
  const [address, setAddress] = useState(uri)
  const { outcome, run } = useTrial(() => readResource(address))
  const open = (event: SyntheticEvent) => {
    event.preventDefault()
    void run()
  }
  const isTemplate = VARIABLE.test(uri)
  return (
    <form className="offer" onSubmit={open}>
      <div className="offer-head">
        <strong>{oneLine(title, 80)}</strong>
        {mimeType && <span className="muted">{oneLine(mimeType, 60)}</span>}
        <Button type="submit" disabled={VARIABLE.test(address)} aria-label={`Open ${oneLine(title, 80)}`}>
          Open
        </Button>
      </div>
      {description && <p className="muted">{oneLine(description, 300)}</p>}
      {isTemplate ? (
        <input
          aria-label={`Address of ${oneLine(title, 80)}`}
          value={address}
          onChange={event => setAddress(event.target.value)}
        />
      ) : (
        <code>{oneLine(uri, 200)}</code>
      )}
      <Outcome outcome={outcome} label={`Contents of ${oneLine(title, 80)}`} />
    </form>
  )
}
