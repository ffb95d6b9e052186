// Script of candidates' pages outside of a session: shows times in the reader's zone, reports the zone, and tells tablets that
// call themselves a Mac that they can't share the screen.

import { localizeTimes } from './pages/localize-times.ts'
import { fillZone } from './pages/zone.ts'

localizeTimes()
fillZone()
if (navigator.maxTouchPoints > 0 && !navigator.mediaDevices?.getDisplayMedia)
  document.querySelector('[data-computer]')?.classList.remove('hidden')
