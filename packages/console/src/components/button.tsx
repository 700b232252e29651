import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Props extends ComponentProps<'button'> {
  look?: 'primary' | 'danger' | 'quiet' | undefined
  icon?: IconName
}

/** A button; one that submits says so by its `type`. */
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
  /** Of one that stays pressed. */
  isPressed?: boolean
}

/** An icon to press; its label is shown when the pointer rests on it. */
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
