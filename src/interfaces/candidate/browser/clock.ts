// What the candidates' pages gain by scripts where there is no session yet, or none any more: their times are those of the reader's clock,
// and the service learns in which zone that is. A tablet that calls itself a Mac is told that it can't share its screen.

import { wordTimes } from './pages/word-times.ts'
import { fillZone } from './pages/zone.ts'

wordTimes()
fillZone()
if (navigator.maxTouchPoints > 0 && !navigator.mediaDevices?.getDisplayMedia)
  document.querySelector('[data-computer]')?.classList.remove('hidden')
