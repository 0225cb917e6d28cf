/** Whether whoever has this environment sees no browser of this machine. */
export function isHeadless(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): boolean {
  if (env['CI'] || env['SSH_CONNECTION']) return true
  return platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']
}
