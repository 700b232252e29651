import { useId } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Option<T extends string> {
  value: T
  label: string
  icon?: IconName | undefined
  /** Why it is disabled. */
  obstacle?: string | undefined
}

interface Props<T extends string> {
  /** For screen readers. */
  label: string
  options: readonly Option<T>[]
  value: T
  onChange: (value: T) => void
}

/** A choice between a few visible options. */
export function Segmented<T extends string>({ label, options, value, onChange }: Props<T>) {
  const name = useId()
  return (
    <fieldset className="segmented">
      <legend className="visually-hidden">{label}</legend>
      {options.map(option => (
        <label key={option.value} title={option.obstacle}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            disabled={option.obstacle !== undefined}
            onChange={() => onChange(option.value)}
          />
          {option.icon && <Icon name={option.icon} />}
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
