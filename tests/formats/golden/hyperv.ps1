Add-VMAssignableDevice -LocationPath "PCIROOT(0)#PCI(1D00)#PCI(0000)" -VMName "db-1"
Add-VMAssignableDevice -LocationPath "PCIROOT(40)#PCI(0300)#PCI(0000)" -VMName "db-1"
Add-VMAssignableDevice -LocationPath "PCIROOT(1)#PCI(0100)#PCI(0000)" -VMName "db-1"
