import { type LucideIcon, Search, X } from 'lucide-react'
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { openPalette } from './palette-state.ts'

/* The small parts that every view is made of. */

const LOOKS = {
  primary: 'bg-accent text-accent-text hover:brightness-110 border-transparent',
  plain: 'border-line bg-panel hover:bg-raised',
  quiet: 'border-transparent text-muted hover:bg-raised hover:text-text',
}

const BUTTON =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap aria-disabled:opacity-60 disabled:cursor-not-allowed disabled:opacity-60'

type ButtonProps<Tag extends 'button' | 'a'> = ComponentProps<Tag> & {
  look?: keyof typeof LOOKS
  icon?: LucideIcon
}

export function Button({ look = 'plain', icon: Icon, className = '', ...rest }: ButtonProps<'button'>) {
  return (
    <button type="button" {...rest} className={`${BUTTON} ${LOOKS[look]} ${className}`}>
      {Icon && <Icon size={14} aria-hidden="true" />}
      {rest.children}
    </button>
  )
}

export function LinkButton({ look = 'plain', icon: Icon, className = '', ...rest }: ButtonProps<'a'>) {
  return (
    <a {...rest} className={`${BUTTON} ${LOOKS[look]} ${className}`}>
      {Icon && <Icon size={14} aria-hidden="true" />}
      {rest.children}
    </a>
  )
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  icon?: LucideIcon
  label: string
}

export function IconButton({ icon: Icon = X, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-raised hover:text-text disabled:opacity-50 ${className}`}
      {...rest}
    >
      <Icon size={15} aria-hidden="true" />
    </button>
  )
}

const TONES = {
  plain: 'bg-raised text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

export type Tone = keyof typeof TONES

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex max-w-full items-center rounded px-1.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      <span className="truncate">{children}</span>
    </span>
  )
}

interface NoticeProps extends ComponentProps<'div'> {
  tone?: Tone
}

export function Notice({ tone = 'plain', className = '', ...rest }: NoticeProps) {
  return (
    <div
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md px-3 py-2 break-words ${TONES[tone]} ${className}`}
      {...rest}
    />
  )
}

/** An error as an alert; nothing without one. */
export function Problem({ text }: { text: string | undefined }) {
  if (!text) return null
  return (
    <Notice tone="bad" role="alert">
      {text}
    </Notice>
  )
}

export function Spinner({ label }: { label?: string }) {
  return (
    <span className="row text-muted" role={label ? 'status' : undefined}>
      <span
        className="size-3.5 animate-spin rounded-full border-2 border-line border-t-accent"
        aria-hidden="true"
      />
      {label}
    </span>
  )
}

/** Instead of what is not there yet, or could not be loaded. */
export function Pending({ label, error }: { label: string; error?: Error | null }) {
  return <div className="p-4">{error ? <Problem text={error.message} /> : <Spinner label={label} />}</div>
}

/** What to say instead of a list that is empty. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-1.5 px-6 py-14 text-center">
      <h2 className="text-base">{title}</h2>
      {children && <div className="text-muted">{children}</div>}
    </div>
  )
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="rounded border border-line bg-raised px-1 font-sans text-xs text-muted">{children}</kbd>
  )
}

/** Pairs of a name and a value; those without a value are left out. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const given = Object.entries(facts).filter(
    ([, value]) => value !== undefined && value !== '' && value !== false,
  )
  if (given.length === 0) return null
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1">
      {given.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A heading with what can be done beside it. */
export function ViewHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="flex min-h-12 flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <h1 className="mr-auto text-base">{title}</h1>
      {children}
      <IconButton icon={Search} label="Search or jump to" className="md:hidden" onClick={openPalette} />
    </header>
  )
}

interface SectionProps {
  title: string
  children: ReactNode
  action?: ReactNode
}

export function Section({ title, children, action }: SectionProps) {
  return (
    <section className="flex min-w-0 flex-col gap-2" aria-label={title}>
      <div className="row min-h-7 justify-between">
        <h2 className="label">{title}</h2>
        {action}
      </div>
      {children}
    </section>
  )
}

interface ScrollBoxProps {
  label: string
  className?: string
  children: ReactNode
}

/** A scrolling box can be reached by keyboard. */
export function ScrollBox({ label, className = '', children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
    // biome-ignore lint/a11y/useSemanticElements: it groups no fields
    <div role="group" aria-label={label} tabIndex={0} className={`overflow-auto ${className}`}>
      {children}
    </div>
  )
}

/** The current time, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** `4 min 20 s` until a time. */
export function TimeLeft({ until }: { until: number }) {
  const left = Math.max(0, Math.ceil((until - useNow(1_000)) / 1_000))
  if (left === 0) return 'a moment'
  return left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`
}
