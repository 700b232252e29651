import { create } from 'zustand'

/** Whether the palette is open: keys, the side bar and, on a phone, the head of a view open it. */
export const usePalette = create<{ isOpen: boolean }>()(() => ({ isOpen: false }))

export const openPalette = () => usePalette.setState({ isOpen: true })
