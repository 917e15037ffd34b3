// Exit codes with which a host ends its process, unless its options say otherwise.

/** Another process uses or took over the state directory. */
export const IN_USE = 9;
/** Start again (sysexits' "try again"). */
export const RESTART = 75;
