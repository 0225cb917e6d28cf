import { signal } from '@preact/signals'

/** Decisions that wait for a person. */
export const waiting = signal(0)
