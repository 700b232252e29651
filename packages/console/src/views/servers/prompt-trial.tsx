import { type SyntheticEvent, useState } from 'react'
import { getPrompt, type Offer } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { oneLine } from '../../text/visible-text.ts'
import { Outcome, useTrial } from './trial.tsx'

/** A prompt to try, with a field for each argument. */
export function PromptTrial({ prompt }: { prompt: Offer }) {
  const { name, title = name, description, arguments: wanted } = prompt
  const [given, setGiven] = useState<Record<string, string>>({})
  const { outcome, run } = useTrial(() => getPrompt(name, withoutEmpty(given)))
  const fill = (event: SyntheticEvent) => {
    event.preventDefault()
    void run()
  }
  return (
    <form className="offer" onSubmit={fill}>
      <div className="offer-head">
        <strong>{oneLine(title, 80)}</strong>
        <Button type="submit" aria-label={`Try ${oneLine(title, 80)}`}>
          Try
        </Button>
      </div>
      {description && <p className="muted">{oneLine(description, 300)}</p>}
      {wanted.map(({ name: key, description: about, required }) => (
        <label key={key} className="offer-field">
          <span>
            {oneLine(key, 60)}
            {required && <span className="muted"> (required)</span>}
          </span>
          <input
            value={given[key] ?? ''}
            required={required === true}
            placeholder={about ? oneLine(about, 100) : undefined}
            onChange={event => setGiven({ ...given, [key]: event.target.value })}
          />
        </label>
      ))}
      <Outcome outcome={outcome} label={`Messages from ${oneLine(title, 80)}`} />
    </form>
  )
}

function withoutEmpty(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}
