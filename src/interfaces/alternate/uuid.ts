const WITHOUT_DASHES = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** An id as it is stored: Django REST framework takes UUIDs in either case, with and without dashes. Other texts are returned in lower case. */
export const toUuid = (text: string): string => text.toLowerCase().replace(WITHOUT_DASHES, '$1-$2-$3-$4-$5')
