import { oneLine } from '../text/visible-text.ts'

interface ChoiceProps {
  label: string
  value: string | undefined
  choices: readonly string[]
  onChange: (value: string | undefined) => void
}

/** Filters by one of several values, or all. A current value that is not among them is offered too. */
export function Choice({ label, value, choices, onChange }: ChoiceProps) {
  const all = value === undefined || choices.includes(value) ? choices : [value, ...choices]
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value ?? ''} onChange={event => onChange(event.target.value || undefined)}>
        <option value="">all</option>
        {all.map(choice => (
          <option key={choice} value={choice}>
            {oneLine(choice, 60)}
          </option>
        ))}
      </select>
    </label>
  )
}
