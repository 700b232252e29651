import { Select as Base } from '@base-ui/react/select'
import { Check, ChevronsUpDown } from 'lucide-react'

interface Option {
  value: string
  label: string
}

interface Props {
  label: string
  value: string
  options: readonly Option[]
  onChange: (value: string) => void
  id?: string
  className?: string
  placeholder?: string
}

export function Select({ label, value, options, onChange, id, className = '', placeholder }: Props) {
  return (
    <Base.Root value={value} onValueChange={next => onChange(next as string)} items={options} modal={false}>
      <Base.Trigger
        id={id}
        aria-label={label}
        className={`control flex items-center justify-between gap-2 text-left ${className}`}
      >
        <span className="truncate">
          <Base.Value>
            {(chosen: string) =>
              options.find(option => option.value === chosen)?.label ?? (
                <span className="text-muted">{placeholder ?? 'Choose …'}</span>
              )
            }
          </Base.Value>
        </span>
        <ChevronsUpDown size={13} className="shrink-0 text-muted" aria-hidden="true" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="z-50" sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className="card max-h-(--available-height) min-w-(--anchor-width) max-w-[90vw] overflow-y-auto p-1 text-sm shadow-lg">
            {options.map(option => (
              <Base.Item
                key={option.value}
                value={option.value}
                className="flex cursor-default items-center gap-2 rounded px-2 py-1 data-highlighted:bg-raised"
              >
                <span className="w-3.5 shrink-0">
                  <Base.ItemIndicator>
                    <Check size={13} aria-hidden="true" />
                  </Base.ItemIndicator>
                </span>
                <Base.ItemText>{option.label}</Base.ItemText>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
