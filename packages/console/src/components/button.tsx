import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Props extends ComponentProps<'button'> {
  look?: 'primary' | 'danger' | 'quiet' | undefined
  icon?: IconName
}

/** A button; set `type` for one that submits. */
export function Button({ look, icon, className = '', children, ...rest }: Props) {
  return (
    <button type="button" className={`button ${look ? `button-${look}` : ''} ${className}`} {...rest}>
      {icon && <Icon name={icon} />} {children}
    </button>
  )
}

interface IconButtonProps {
  icon: IconName
  label: string
  onClick: () => void
  /** For toggle buttons. */
  isPressed?: boolean
}

/** A button with an icon; its label is the tooltip. */
export function IconButton({ icon, label, onClick, isPressed }: IconButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      onClick={onClick}
      aria-label={label}
      aria-pressed={isPressed}
      title={label}
    >
      <Icon name={icon} filled={icon === 'star' && isPressed === true} />
    </button>
  )
}
