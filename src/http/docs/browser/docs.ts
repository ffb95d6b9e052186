// Enhancements of the documentation, which can be read and searched without JavaScript.
import { addCopyButtons } from './copy.ts'
import { syncSampleLanguage } from './samples.ts'
import { searchAsTyped } from './search.ts'
import { tryRequests } from './try.ts'

addCopyButtons()
syncSampleLanguage()
searchAsTyped()
tryRequests()
