// Written by scripts/confusables.ts from Unicode's confusables, version 18.0.0. Decision 28 says how it is read.
// Copyright © 1991 and later, Unicode, Inc. Distributed under the Unicode License v3 (Unicode-3.0).

export const confusablesVersion = "18.0.0";

/** 559 pairs in the order of their code points: the distance from the one before, then what it looks like. */
export const confusablePairs = `
72p 1fi 2bb 9g 5f 4l gR 12 g3 55 1s 2p 1l 2k3 68 18 kj lR 5a gg 1g 1y 6i 1i 5w 5n cr 4f 7u 4y ab 3h 3l 1k- x:
3rJ iA 1B 3E 1Z 1H 2l 1K 2M 1N 2O 2P 3T 1Y 2X aa 2y 6i 4v 2o 2p 2o 2u nF c2 46 1o 6j 5p 2M bS 1l 2J 8A 2B 3E
23 3K 2M 1H 1O 2P 1C 1T 1Y 2X 7b 4a 16 2r 2e 9o 2p 1c 2y 2x 3w ds 1i 2j 9w jV 1v 1lY 1y bh 1h 2e 3l fl h3 xd
bG eQ 1q 1W 1w 143 8U 2S 6O cw 2q 3q ah 5j 3n 4n 1u 4g 1i 2f 1o 4: 1m: il 3v 7l 2o 18, ql wo 10, 2bo 3o j- 1o
18. 1. 1: 1: 5il 1o 1Y 7F 2b bT 29: fo kgO e7s 1o kkc po 1pc 2nh 4S a2 6Z qy mS 2o co 4xo 1wU 5sO 41: 1e: dD
1R 1T 3i 4Y 1A 1J 1E 7W 4M 4H 2Y 3G 2h 1Z b4 1b 3R 2W 1S 4V 1S 4L 1C 3P 4K 1d 76 5G 1B 1nV tU xP 2d 3b rJ tL
l2 3mx 1nH 1x aR 14b 5F hA pD cD 6M 7B v2 4hX al fl 5K 1M m: m3 147 b/ 1ax 4g: 6: fwo fxo 1c 17 h3 y2 6S 2O
1iX ba 4c 1d 2e 3j 1k 2m 2o 2o 7p 3t 1u 4v 1w 1z 4r 2lg 9y 7lf 2qy 7l- 2- 1- 7, 13/ 2- 1/ m: 5we 6c- 3/ 1\\ dl
j: 8ti 1p 6a dz/ 1\\ f8- 1h/ 2\\ fc\\ 3/ 1\\ heZ 1z mB 3r 7Z 1z 1H 4l 1i 1K 4M 2N 23 2O 1o 3P 1p 1C 1c 1T 2Y 1y
3X hw 73 69 19 13 2P 1p 1L 26 16 96 29z bV 1E hl 5l 5O 1Q 8X 51, dxO 7fT 8Y 54/ 1/ 1\\ 5khT 12Y h45B 1P 1d 1D
1T 2G 1K 2J 1C 2Z 1F 2M 1N 1L 1S 1R 3V 1H 3W 1X 1Y 2A 2E 2l 1O 1U nT 1k6 kB ol 7S j8 1uE 1v. 1i2 3i 3mZ mV g2
1tf 1s 152 g3 49 19 il 8: fF 1f 6u c3 3l 1q 3J 1X 1B 1yw 4l 1el lee 3f 8o ar 1r 6u 4u 8y aa hi cr 2w gz b4 6w
5v 1s 5c f6 gy5d 6- 6pB 4E 1F 3l 6X 2O 3P 1S 1T 9A 1B 1C 3F 6O 5M 1T 1Y 2X rH 12Z cB 1C 7l 6O 2M 4T 2X 38 2b
4l 2X 6aO hC 6L 5S co hc bs 30R eO cU 47 oo cu hZ 7l 5N 3O 2K 3C 2V 8F 1L 1X sfl 6o 84. 4l: 7yX 4O 8V 1Y 1M
tl 1wX zl tx 1kl 2X bo t9o 7q: y4v 4w 4w 1w b5V 2F 1L 1Y 2E 3Z 39 2E 14 3L 3O 3U 35 1T 4v 1s 1F 1i 1y 27 2o
23 29 96 19 1o 1u 4y gX 3W 3C cqZ 2N m4l ezr9 1p8 rr 59S jO hml 7z4 87 wl cb 2aV 2T cL il dR 5S 13 5A 2U 1Y
jb9: 7b\\ 17/ 1\\ 8oT 4l 47kl 48 tyl
`;
