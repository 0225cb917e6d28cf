import { computed } from '@preact/signals'
import { me } from './connection.ts'

/** Whether whoever looks may change what holds for everybody. The owner may; a device if it was let in like that. */
export const mayManage = computed(() => me.value?.device?.scopes.includes('manage') ?? true)
