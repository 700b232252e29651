import { useEffect, useState } from 'react'
import { Button } from './button.tsx'

interface Props {
  label: string
  text: () => string
  /** `plain` has a border. */
  look?: 'quiet' | 'plain'
}

/** Copies text, and says whether it worked. */
export function CopyButton({ label, text, look = 'quiet' }: Props) {
  const [outcome, setOutcome] = useState<'Copied' | 'Could not copy'>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2_000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => setOutcome((await copied(text)) ? 'Copied' : 'Could not copy')
  return (
    <Button
      look={look === 'quiet' ? look : undefined}
      icon={outcome === 'Copied' ? 'done' : 'copy'}
      title={label}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{outcome ?? label}</span>
    </Button>
  )
}

/** Browsers offer the clipboard only on loopback and over HTTPS; elsewhere the text is selected and copied. */
async function copied(text: () => string): Promise<boolean> {
  try {
    // Throws on a value nested too deeply for JSON.
    const made = text()
    return await navigator.clipboard.writeText(made).then(
      () => true,
      () => copyBySelection(made),
    )
  } catch {
    return false
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  document.body.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}
