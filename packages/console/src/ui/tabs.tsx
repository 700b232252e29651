import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export interface Tab {
  value: string
  label: ReactNode
  content: ReactNode
}

interface Props {
  label: string
  tabs: readonly (Tab | false | undefined)[]
  value?: string
  onChange?: (value: string) => void
  /** What stands at the end of the row. */
  action?: ReactNode
}

/** Tabs that are false are left out. Uncontrolled unless `value` is given; the first tab is the default. */
export function Tabs({ label, tabs: given, value, onChange, action }: Props) {
  const tabs = given.filter(tab => tab !== false && tab !== undefined)
  const [first] = tabs
  if (!first) return null
  return (
    <Base.Root
      {...(value === undefined ? { defaultValue: first.value } : { value })}
      onValueChange={next => onChange?.(next as string)}
      className="flex min-w-0 flex-col gap-3"
    >
      <div className="row border-b border-line">
        <Base.List aria-label={label} className="flex gap-4 overflow-x-auto">
          {tabs.map(tab => (
            <Base.Tab
              key={tab.value}
              value={tab.value}
              className="-mb-px shrink-0 border-b-2 border-transparent py-1.5 font-medium text-muted hover:text-text data-active:border-accent data-active:text-text"
            >
              {tab.label}
            </Base.Tab>
          ))}
        </Base.List>
        {action && <div className="ml-auto">{action}</div>}
      </div>
      {tabs.map(tab => (
        <Base.Panel key={tab.value} value={tab.value} className="min-w-0">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
