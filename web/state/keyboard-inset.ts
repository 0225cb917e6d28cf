/** Keeps what stands at the bottom above the keyboard on the screen, where the browser does not do so itself (iOS). */
export function keepAboveKeyboard(): () => void {
  const { visualViewport } = window
  const { style } = document.documentElement
  if (!visualViewport) return () => {}
  const fit = (): void => {
    const covered = Math.max(0, innerHeight - visualViewport.height - visualViewport.offsetTop)
    // Somebody has zoomed in: that is no keyboard.
    style.setProperty('--keyboard', visualViewport.scale > 1.01 ? '0px' : `${Math.round(covered)}px`)
  }
  visualViewport.addEventListener('resize', fit)
  visualViewport.addEventListener('scroll', fit)
  fit()
  return () => {
    visualViewport.removeEventListener('resize', fit)
    visualViewport.removeEventListener('scroll', fit)
    style.removeProperty('--keyboard')
  }
}
