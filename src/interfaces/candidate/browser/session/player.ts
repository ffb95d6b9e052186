import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Devices } from '../devices/devices.ts'
import type { Notes } from './notes.ts'
import type { Outbox } from './outbox.ts'
import type { Session, SessionState } from './session.ts'
import type { Status } from './status.ts'

/** What lasts as long as the document, whichever page it shows. */
export type Player = {
  t: BrowserTexts
  session: Session
  outbox: Outbox
  devices: Devices
  notes: Notes
  status: Status
  /** As it was read last. */
  state: SessionState
  /** Shows the page as it is now, and what it has to do. */
  refresh: () => Promise<void>
}

/** What a page does while it is shown. */
export type PageControl = {
  /** Before one of its forms is sent. @returns false when it is not to be sent. */
  beforeSending: (form: HTMLFormElement, submitter: HTMLElement | null) => Promise<boolean>
  /** Before the page is loaded again. @returns false when it is not to be. */
  beforeReload?: () => Promise<boolean>
  /** Whether an answer is being recorded, or sent. */
  isRecording?: () => boolean
  /** Whether there is something that leaving the page would lose. */
  hasUnsaved?: () => boolean
  connectionChanged?: () => void
  close: () => void
}
